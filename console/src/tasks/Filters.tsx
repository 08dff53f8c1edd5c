import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Button } from "../ui/Button";
import styles from "./Filters.module.css";
import { states } from "./state";

// A link is current only when it leads exactly here; by itself the router goes by the beginning of the address.
const exact = { exact: true };

const route = getRouteApi("/tasks");

/** By state and by context. Both are links and words of the URL. */
export function Filters() {
  const { state, context } = route.useSearch();
  const navigate = useNavigate();

  function setContext(next: string | undefined) {
    navigate({
      to: ".",
      search: ({ page: _, context: __, ...search }) => ({ ...search, ...(next && { context: next }) }),
    });
  }

  return (
    <div className={styles.filters}>
      <nav aria-label="Filter by state">
        <ul className={styles.states}>
          {[undefined, ...states].map((option) => (
            <li key={option?.key ?? "all"}>
              <Link
                to="."
                search={({ page: _, state: __, ...search }) => ({
                  ...search,
                  ...(option && { state: option.key }),
                })}
                className={styles.state}
                aria-current={option?.key === state ? "true" : undefined}
                activeOptions={exact}
              >
                {option?.word ?? "All"}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <form
        className={styles.context}
        key={context}
        onSubmit={(event) => {
          event.preventDefault();
          const value = new FormData(event.currentTarget).get("context");
          setContext(typeof value === "string" ? value.trim() : undefined);
        }}
      >
        <label className={styles.label} htmlFor="context-filter">
          Context
        </label>
        <input
          id="context-filter"
          name="context"
          className={styles.field}
          defaultValue={context}
          placeholder="any"
          spellCheck={false}
          autoComplete="off"
        />
        {context && (
          <Button look="quiet" onClick={() => setContext(undefined)}>
            Clear
            <span className="visually-hidden"> the context filter</span>
          </Button>
        )}
      </form>
    </div>
  );
}
