import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAnnounce } from "./announce";

/**
 * After a navigation between pages, focus moves to the new page's heading and its words are read out. Coming back from
 * a task, focus returns to its row. A change of filter is no navigation: focus stays where it is.
 */
export function useRouteFocus() {
  const router = useRouter();
  const announce = useAnnounce();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, toLocation, pathChanged }) => {
        // The browser itself names the first page.
        if (!fromLocation || !pathChanged) return;
        const heading = [...document.querySelectorAll<HTMLElement>("[data-page-heading]")].at(-1);
        announce(heading?.textContent ?? "");
        const id = fromLocation.pathname.split("/").at(-1) ?? "";
        const row = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
        (toLocation.pathname === "/tasks" && row ? row : heading)?.focus();
      }),
    [router, announce],
  );
}

/** Names the page in the browser's own places: tabs, history, bookmarks. */
export function usePageTitle(name: string | undefined) {
  useEffect(() => {
    if (name) document.title = `${name} · Weft`;
  }, [name]);
}
