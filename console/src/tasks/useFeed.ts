// Keeps every cached page of the list current by the mesh's feed, and says whether the feed is up.

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type FeedLink, openFeed } from "../api/feed";
import type { ListTasksResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import type { FeedEventJson } from "../api/gen/weft/v1/tasks_pb";
import { usePageVisible } from "../ui/usePageVisible";
import { applyFeed, type ListView } from "./feed";
import { taskListKey } from "./queries";

/** Events are gathered this long, so that a busy mesh costs a few drawings a second. */
const gatherMs = 100;
/** Pages are read again at most this often. */
const rereadMs = 1_000;
/** Tasks whose changes are gathered; beyond that the page is read again instead. */
const gatheredMax = 500;

export function useFeed(): FeedLink {
  const client = useQueryClient();
  const visible = usePageVisible();
  const [link, setLink] = useState<FeedLink>("connecting");

  // A hidden page gives its connection back: browsers allow six to one origin. Opening reads everything again.
  useEffect(() => {
    if (!visible) return;
    const gathered = gather(client);
    const close = openFeed({
      onEvent: gathered.add,
      onOpen: () => {
        client.invalidateQueries({ queryKey: taskListKey });
        client.invalidateQueries({ queryKey: ["catalog"] });
      },
      onLink: setLink,
    });
    return () => {
      close();
      gathered.stop();
    };
  }, [client, visible]);

  return link;
}

function gather(client: QueryClient) {
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
