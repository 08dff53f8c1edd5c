// One task followed to its end: snapshot, then every event, across lost connections.

import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { Fault, type Rpc } from "../api/rpc";
import { fold, withHistoryOf } from "./fold";
import { stateOf } from "./state";

/** How the page stands to the task's stream. */
export type Link = "connecting" | "live" | "reconnecting" | "ended";

export interface Follower {
  onTask(task: TaskJson): void;
  onLink(link: Link): void;
  /** Resolves after that many milliseconds, or as soon as the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const backoffMsMin = 500;
export const backoffMsMax = 15_000;

/** Doubles with each failed attempt, from 1, up to a bound. */
export function backoffMs(attempt: number): number {
  return Math.min(backoffMsMax, backoffMsMin * 2 ** Math.min(attempt - 1, 16));
}

/**
 * Follows until the task is terminal or the signal aborts; then resolves. Rejects with the mesh's fault when it says
 * that there is no such task; any other trouble is tried again, more slowly each time.
 */
export async function follow(rpc: Rpc, id: string, to: Follower, signal: AbortSignal): Promise<void> {
  let attempt = 0;
  to.onLink("connecting");
  while (!signal.aborted) {
    try {
      if (await followOnce(rpc, id, to, signal, () => (attempt = 0))) {
        to.onLink("ended");
        return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Fault) || error.reason === "TASK_NOT_FOUND") throw error;
    }
    if (signal.aborted) return;
    attempt += 1;
    to.onLink("reconnecting");
    await to.wait(backoffMs(attempt), signal);
  }
}

/** One connection. True when the task is terminal. */
async function followOnce(
  rpc: Rpc,
  id: string,
  to: Follower,
  signal: AbortSignal,
  onConnected: () => void,
): Promise<boolean> {
  let task: TaskJson | undefined;
  try {
    for await (const event of rpc.stream("SubscribeToTask", { id }, { signal })) {
      const before = task;
      task = fold(task, event);
      if (!task || task === before) continue;
      onConnected();
      to.onLink("live");
      // Leaving an interruption means that somebody answered; the stream has no event for that turn.
      if (stateOf(before).tone === "asking" && stateOf(task).tone !== "asking" && !stateOf(task).terminal) {
        task = withHistoryOf(task, await rpc.call<TaskJson>("GetTask", { id }, { signal }));
      }
      to.onTask(task);
    }
  } catch (error) {
    // The task ended before the subscription began: read it once.
    if (!(error instanceof Fault) || error.reason !== "UNSUPPORTED_OPERATION") throw error;
    task = undefined;
  }
  if (task && !stateOf(task).terminal) return false;
  const settled = await rpc.call<TaskJson>("GetTask", { id }, { signal });
  to.onTask(settled);
  return stateOf(settled).terminal;
}
