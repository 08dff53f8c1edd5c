import { useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useAnnounce } from "./announce";

/**
 * After a navigation between pages, names the page, moves focus to its heading and has it read out. Coming back from a
 * task, focus returns to its row. A change of filter is no navigation: focus stays where it is.
 */
export function useRouteFocus() {
  const path = useLocation({ select: (location) => location.pathname });
  const announce = useAnnounce();
  const before = useRef<string>(undefined);

  useEffect(() => {
    const from = before.current;
    before.current = path;
    const heading = [...document.querySelectorAll<HTMLElement>("[data-page-heading]")].at(-1);
    const name = heading?.dataset.pageHeading || heading?.textContent || "";
    document.title = name ? `${name} · Weft` : "Weft";
    // The browser itself names the first page.
    if (from === undefined || from === path) return;
    announce(name);
    const row = document.querySelector<HTMLElement>(
      `[data-row="${CSS.escape(from.split("/").at(-1) ?? "")}"]`,
    );
    (path === "/tasks" && row ? row : heading)?.focus();
  }, [path, announce]);
}
