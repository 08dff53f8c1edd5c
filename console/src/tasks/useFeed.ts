// Keeps every cached page of the list current by the mesh's feed, and says whether the feed is up.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type FeedLink, openFeed } from "../api/feed";
import { catalogKey } from "../fleet/queries";
import { sessionKey } from "../session/session";
import { usePageVisible } from "../ui/usePageVisible";
import { gather } from "./gather";
import { taskListKey } from "./queries";

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
        client.invalidateQueries({ queryKey: catalogKey });
      },
      onLink: (link) => {
        setLink(link);
        // A refusal looks like a break: a session that has ended is asked about, and leads to signing in.
        if (link === "reconnecting") client.invalidateQueries({ queryKey: sessionKey });
      },
    });
    return () => {
      close();
      gathered.stop();
    };
  }, [client, visible]);

  return link;
}
