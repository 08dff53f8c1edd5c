// Keeps one cached task current by its stream, while it is alive and the page is visible.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { rpc } from "../api/mesh";
import { useAnnounce } from "../shell/announce";
import { usePageVisible } from "../ui/usePageVisible";
import { follow, type Link } from "./follow";
import { taskQuery } from "./queries";
import { stateOf } from "./state";

/** A stream may bring hundreds of chunks a second; so often the page is drawn, in milliseconds. */
const drawMs = 50;

export function useFollow(id: string, task: TaskJson | undefined): { link: Link; fault: unknown } {
  const client = useQueryClient();
  const visible = usePageVisible();
  const announce = useAnnounce();
  const [link, setLink] = useState<Link>("connecting");
  const [fault, setFault] = useState<unknown>();
  const alive = task !== undefined && !stateOf(task).terminal;

  useEffect(() => {
    if (!alive || !visible) return;
    const abort = new AbortController();
    const { queryKey } = taskQuery(id);
    let latest: TaskJson | undefined;
    let drawing: ReturnType<typeof setTimeout> | undefined;

    function draw() {
      drawing = undefined;
      const before = client.getQueryData<TaskJson>(queryKey);
      client.setQueryData(queryKey, latest);
      const state = stateOf(latest);
      if (before && stateOf(before).key !== state.key) announce(`Task is now: ${state.word}`);
    }

    const reader = {
      onTask(next: TaskJson) {
        latest = next;
        drawing ??= setTimeout(draw, drawMs);
      },
      onLink: setLink,
      wait,
    };
    follow(rpc, id, reader, abort.signal).catch(setFault);
    return () => {
      abort.abort();
      if (drawing === undefined) return;
      clearTimeout(drawing);
      draw();
    };
  }, [client, id, alive, visible, announce]);

  return { link: task && !alive ? "ended" : link, fault };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
