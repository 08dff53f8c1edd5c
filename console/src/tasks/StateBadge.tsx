import styles from "./StateBadge.module.css";
import type { StateKey, StateView } from "./state";

/** One shape for each state, drawn in a box of 16 by 16: states differ without colour, too. */
const shapes: Record<StateKey, string> = {
  submitted: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11",
  working: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5.5V8l1.8 1.6",
  "input-required": "M5.6 6a2.4 2.4 0 1 1 3.4 2.2c-.7.4-1 .8-1 1.6M8 12.4v.1",
  "auth-required": "M5.5 7.5V5.2a2.5 2.5 0 0 1 5 0v2.3M3.8 7.5h8.4v5.7H3.8z",
  completed: "M3 8.4l3.3 3.3L13 4.8",
  failed: "M4 4l8 8M12 4l-8 8",
  canceled: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11M4.2 11.8l7.6-7.6",
  rejected: "M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11M5 8h6",
  unknown: "M4 8h.1M8 8h.1M12 8h.1",
};

interface StateBadgeProps {
  state: StateView;
  size?: "small" | "large";
}

/** A state as a glyph, a colour and, always, its word. */
export function StateBadge({ state, size = "small" }: StateBadgeProps) {
  return (
    <span className={styles.badge} data-tone={state.tone} data-size={size}>
      <svg className={styles.glyph} viewBox="0 0 16 16" aria-hidden="true" data-state={state.key}>
        <path d={shapes[state.key]} />
      </svg>
      {state.word}
    </span>
  );
}
