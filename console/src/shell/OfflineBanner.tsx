import { useEffect, useState } from "react";
import type { FeedLink } from "../api/feed";
import { Time } from "../ui/Time";
import styles from "./OfflineBanner.module.css";

/** A shorter break is not worth a word, in milliseconds. */
const breakMsMin = 2_500;

/** Says that the page is not current any more, and since when, until it is again. */
export function OfflineBanner({ link }: { link: FeedLink }) {
  const [since, setSince] = useState<string>();
  useEffect(() => {
    if (link === "live") {
      setSince(undefined);
      return;
    }
    const began = new Date().toISOString();
    const timer = setTimeout(() => setSince((earlier) => earlier ?? began), breakMsMin);
    return () => clearTimeout(timer);
  }, [link]);
  if (!since) return null;
  return (
    <div className={styles.banner} role="status">
      <strong>The mesh does not answer.</strong> What you see may be out of date; lost contact{" "}
      <Time at={since} />. It is tried again by itself.
    </div>
  );
}
