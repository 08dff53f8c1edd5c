import { getRouteApi, Link, useLocation } from "@tanstack/react-router";
import styles from "./Pager.module.css";

const route = getRouteApi("/tasks");

interface PagerProps {
  next: string | undefined;
  total: number | undefined;
}

/** Older, by the mesh's own page tokens; newer, by the tokens passed on the way. */
export function Pager({ next, total }: PagerProps) {
  const { page } = route.useSearch();
  const passed = useLocation({ select: (location) => location.state.newer }) ?? [];
  const newer = passed.at(-1);
  return (
    <nav className={styles.pager} aria-label="Pages of the list">
      <span className={styles.total}>
        {total === undefined ? "" : `${total} ${total === 1 ? "task" : "tasks"}`}
      </span>
      {page && (
        <Link
          to="."
          search={({ page: _, ...search }) => search}
          className={styles.way}
          activeOptions={{ exact: true }}
        >
          Newest
        </Link>
      )}
      {page && newer && (
        <Link
          to="."
          search={(search) => ({ ...search, page: newer })}
          state={{ newer: passed.slice(0, -1) }}
          className={styles.way}
          activeOptions={{ exact: true }}
        >
          ← Newer
        </Link>
      )}
      {next && (
        <Link
          to="."
          search={(search) => ({ ...search, page: next })}
          state={{ newer: [...passed, page ?? ""] }}
          className={styles.way}
          activeOptions={{ exact: true }}
        >
          Older →
        </Link>
      )}
    </nav>
  );
}
