import styles from "./Time.module.css";
import { absolute, instantOf, relative } from "./time";
import { useNow } from "./useNow";

interface TimeProps {
  /** RFC 3339; nothing is shown without it. */
  at: string | undefined;
  /** Also show the instant itself where there is room. */
  full?: boolean;
}

/** How long ago, and when. */
export function Time({ at, full = false }: TimeProps) {
  const now = useNow();
  const instant = instantOf(at);
  if (instant === undefined) return null;
  const when = absolute(instant);
  return (
    <time className={styles.time} dateTime={at} title={`${when} (${at})`}>
      <span>{relative(instant, now)}</span>
      {full && <span className={styles.full}>{when}</span>}
    </time>
  );
}
