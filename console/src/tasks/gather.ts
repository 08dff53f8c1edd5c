// Feed events on their way into the cached pages of the list: gathered, then drawn together.

import type { QueryClient } from "@tanstack/react-query";
import type { ListTasksResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import type { FeedEventJson } from "../api/gen/weft/v1/tasks_pb";
import { applyFeed, type ListView } from "./feed";
import { taskListKey } from "./queries";

/** Events are gathered this long, so that a busy mesh costs a few drawings a second. */
export const gatherMs = 100;
/** Pages are read again at most this often. */
export const rereadMs = 1_000;
/** Tasks whose changes are gathered; beyond that the pages are read again instead. */
export const gatheredMax = 500;

export interface Gathering {
  add(event: FeedEventJson): void;
  /** Forgets what was not drawn yet. */
  stop(): void;
}

export function gather(client: QueryClient): Gathering {
  const latest = new Map<string, FeedEventJson>();
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let rereading: ReturnType<typeof setTimeout> | undefined;

  function reread() {
    rereading ??= setTimeout(() => {
      rereading = undefined;
      client.invalidateQueries({ queryKey: taskListKey });
    }, rereadMs);
  }

  function draw() {
    drawing = undefined;
    const events = [...latest.values()];
    latest.clear();
    for (const query of client.getQueryCache().findAll({ queryKey: taskListKey })) {
      // An answer that is under way may be older than these events.
      if (query.state.fetchStatus === "fetching") reread();
      const view = query.queryKey[taskListKey.length] as ListView;
      client.setQueryData<ListTasksResponseJson>(query.queryKey, (list) => {
        if (!list) return undefined;
        for (const event of events) {
          const change = applyFeed(list, event, view);
          list = change.list;
          if (change.incomplete) reread();
        }
        return list;
      });
    }
  }

  return {
    add(event: FeedEventJson) {
      if (event.lagged || latest.size >= gatheredMax) {
        reread();
        return;
      }
      if (!event.taskId) return;
      latest.set(event.taskId, event);
      drawing ??= setTimeout(draw, gatherMs);
    },
    stop() {
      clearTimeout(drawing);
      clearTimeout(rereading);
    },
  };
}
