import { useEffect, useState } from "react";
import type { FeedLink } from "../api/feed";
import { absolute } from "../ui/time";
import styles from "./OfflineBanner.module.css";

/** A shorter break is not worth a word, in milliseconds. */
const breakMsMin = 2_500;

/** Says that the page is not current any more, and since when, until it is again. */
export function OfflineBanner({ link }: { link: FeedLink }) {
  const [since, setSince] = useState<number>();
  const live = link === "live";
  useEffect(() => {
    if (live) {
      setSince(undefined);
      return;
    }
    const began = Date.now();
    const timer = setTimeout(() => setSince(began), breakMsMin);
    return () => clearTimeout(timer);
  }, [live]);
  if (since === undefined) return null;
  return (
    <div className={styles.banner} role="status">
      <strong>The mesh does not answer.</strong> No contact since {absolute(since)}: what you see may be out
      of date. It is tried again by itself.
    </div>
  );
}
