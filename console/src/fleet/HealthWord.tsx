import { type Health, healthWords } from "./fleet";
import styles from "./HealthWord.module.css";

const shapes: Record<Health, string> = {
  up: "M3 8.4l3.3 3.3L13 4.8",
  unreachable: "M4 4l8 8M12 4l-8 8",
  differs: "M4 6h8M4 10h8M10.5 3l-5 10",
  unknown: "M4 8h.1M8 8h.1M12 8h.1",
};

/** A node's health as a glyph, a colour and its word. */
export function HealthWord({ health }: { health: Health }) {
  return (
    <span className={styles.health} data-health={health}>
      <svg className={styles.glyph} viewBox="0 0 16 16" aria-hidden="true">
        <path d={shapes[health]} />
      </svg>
      {healthWords[health]}
    </span>
  );
}
