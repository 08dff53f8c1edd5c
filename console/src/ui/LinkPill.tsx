import styles from "./LinkPill.module.css";

export type LinkState = "connecting" | "live" | "reconnecting" | "ended";

const words: Record<LinkState, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  ended: "Ended",
};

interface LinkPillProps {
  link: LinkState;
  /** What is live: read out, not shown. */
  of: string;
}

/** Whether what is shown is being kept current. */
export function LinkPill({ link, of }: LinkPillProps) {
  return (
    <span className={styles.pill} data-link={link}>
      <span className={styles.dot} aria-hidden="true" />
      <span className="visually-hidden">{of}: </span>
      {words[link]}
    </span>
  );
}
