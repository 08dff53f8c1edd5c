import type { KeyboardEvent } from "react";

const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Up and down (or k and j) move between the rows of the list, Home and End to its ends. */
export function useRowKeys() {
  return (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
    const at = rows.findIndex((row) => row.matches(":focus"));
    const step = steps[event.key];
    const next =
      event.key === "Home"
        ? rows[0]
        : event.key === "End"
          ? rows.at(-1)
          : step && at >= 0
            ? rows[at + step]
            : undefined;
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
}
