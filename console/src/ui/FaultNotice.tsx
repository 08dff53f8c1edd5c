import type { ReactNode } from "react";
import { Fault } from "../api/rpc";
import { Button } from "./Button";
import styles from "./FaultNotice.module.css";

interface FaultNoticeProps {
  /** What was being tried: `Cannot list tasks`. */
  what: string;
  error: unknown;
  onRetry?: () => void;
  children?: ReactNode;
}

/** Something did not work: what, why in the mesh's words, its reason code, and a way on. */
export function FaultNotice({ what, error, onRetry, children }: FaultNoticeProps) {
  const code = error instanceof Fault ? error.reason || (error.code ? String(error.code) : "") : "";
  const why = error instanceof Error ? error.message : String(error);
  return (
    <div className={styles.notice} role="alert">
      <p className={styles.text}>
        <strong>{what}:</strong> {why}
        {code && <code className={styles.code}>{code}</code>}
      </p>
      <div className={styles.ways}>
        {children}
        {onRetry && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}
