import type { MessageJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import styles from "./History.module.css";
import { MessageView } from "./MessageView";

/** The conversation so far, in order. The present status is not part of it. */
export function History({ turns }: { turns: MessageJson[] }) {
  return (
    <section className={styles.history} aria-labelledby="history-heading">
      <h3 id="history-heading" className={styles.heading}>
        History
      </h3>
      {turns.length === 0 && <p className={styles.quiet}>Nothing was said.</p>}
      <ol className={styles.turns}>
        {turns.map((turn, index) => (
          // Turns only ever follow one another, and a message id may come twice.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above.
          <li key={index}>
            <MessageView message={turn} />
          </li>
        ))}
      </ol>
    </section>
  );
}
