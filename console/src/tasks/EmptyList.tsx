import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { catalogQuery } from "../fleet/queries";
import { Button } from "../ui/Button";
import { useDraft } from "./draft";
import styles from "./EmptyList.module.css";

/** At most this many examples are offered. */
const examplesMax = 4;

/** Nothing to list: because of the filter, or because nothing was asked yet. */
export function EmptyList({ filtered }: { filtered: boolean }) {
  const capabilities = useQuery(catalogQuery()).data?.capabilities ?? [];
  const { fill } = useDraft();
  if (filtered) {
    return (
      <div className={styles.empty}>
        <p>No task matches this filter.</p>
        <Link to="." search={{}}>
          Show all tasks
        </Link>
      </div>
    );
  }
  // One question of each capability shows more of the fleet than four of the first.
  const examples = capabilities
    .flatMap((capability) => capability.examples?.slice(0, 1) ?? [])
    .slice(0, examplesMax);
  return (
    <div className={styles.empty}>
      <p>
        <strong>No tasks yet.</strong> What you ask of the mesh shows up here, from this page or from any
        client.
      </p>
      {examples.length > 0 && (
        <>
          <p>Try one of these:</p>
          <ul className={styles.examples}>
            {examples.map((example) => (
              <li key={example}>
                <Button onClick={() => fill(example)}>{example}</Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
