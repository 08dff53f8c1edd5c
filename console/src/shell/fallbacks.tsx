import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Button } from "../ui/Button";
import styles from "./fallbacks.module.css";

/** An address that names no page. */
export function MissingPage() {
  return (
    <section className={styles.page}>
      <h1 data-page-heading tabIndex={-1}>
        There is no such page
      </h1>
      <p>
        <Link to="/tasks">Go to the tasks</Link>
      </p>
    </section>
  );
}

/** A fault of the console itself; the mesh is not affected. */
export function CrashPage({ error }: ErrorComponentProps) {
  return (
    <section className={styles.page} role="alert">
      <h1 data-page-heading tabIndex={-1}>
        The console made a mistake
      </h1>
      <p>Nothing happened to the mesh or its tasks. Loading the page again usually helps.</p>
      <pre className={styles.detail}>{error instanceof Error ? error.message : String(error)}</pre>
      <p>
        <Button look="primary" onClick={() => window.location.reload()}>
          Load again
        </Button>
      </p>
    </section>
  );
}
