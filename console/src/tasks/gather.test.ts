import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ListTasksResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { gather, gatheredMax, gatherMs, rereadMs } from "./gather";
import { taskListKey } from "./queries";

const key = [...taskListKey, {}];
const event = (taskId: string) => ({
  taskId,
  contextId: "c",
  status: { state: "TASK_STATE_COMPLETED" as const, timestamp: "2026-03-09T10:00:09Z" },
});

function listing() {
  const client = new QueryClient();
  const working = { state: "TASK_STATE_WORKING" as const, timestamp: "2026-03-09T10:00:00Z" };
  client.setQueryData<ListTasksResponseJson>(key, { tasks: [{ id: "a", contextId: "c", status: working }] });
  const reread = vi.spyOn(client, "invalidateQueries");
  const state = () =>
    client.getQueryData<ListTasksResponseJson>(key)?.tasks?.find(({ id }) => id === "a")?.status?.state;
  return { client, reread, state, gathered: gather(client) };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("gather", () => {
  it("draws what came together, and reads nothing again when the feed said it all", () => {
    const { gathered, state, reread } = listing();
    gathered.add(event("a"));
    expect(state()).toBe("TASK_STATE_WORKING");
    vi.advanceTimersByTime(gatherMs);
    expect(state()).toBe("TASK_STATE_COMPLETED");
    vi.advanceTimersByTime(rereadMs);
    expect(reread).not.toHaveBeenCalled();
  });

  it("reads the pages again once for many events that the feed cannot say in full", () => {
    const { gathered, reread } = listing();
    gathered.add({ lagged: true });
    gathered.add(event("new"));
    vi.advanceTimersByTime(rereadMs);
    expect(reread).toHaveBeenCalledExactlyOnceWith({ queryKey: taskListKey });
  });

  it("reads again when an answer was under way that may not have the event", () => {
    const { client, gathered, reread } = listing();
    client.fetchQuery({ queryKey: key, queryFn: () => new Promise(() => {}) });
    gathered.add(event("a"));
    vi.advanceTimersByTime(gatherMs + rereadMs);
    expect(reread).toHaveBeenCalledOnce();
  });

  it("holds no more than its bound and reads again instead", () => {
    const { client, gathered, reread } = listing();
    for (let index = 0; index <= gatheredMax; index += 1) gathered.add(event(`${index}`));
    vi.advanceTimersByTime(gatherMs);
    expect(client.getQueryData<ListTasksResponseJson>(key)?.tasks?.map(({ id }) => id)).not.toContain(
      `${gatheredMax}`,
    );
    vi.advanceTimersByTime(rereadMs);
    expect(reread).toHaveBeenCalledOnce();
  });

  it("draws nothing after it was stopped", () => {
    const { gathered, state } = listing();
    gathered.add(event("a"));
    gathered.stop();
    vi.advanceTimersByTime(gatherMs);
    expect(state()).toBe("TASK_STATE_WORKING");
  });
});
