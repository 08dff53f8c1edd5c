import { Link } from "@tanstack/react-router";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { Time } from "../ui/Time";
import { shortId } from "./id";
import { StateBadge } from "./StateBadge";
import { stateOf } from "./state";
import styles from "./TaskList.module.css";
import { capabilityOf, titleOf } from "./title";

/** One task of the list. The whole row is its link; the context is another. */
export function TaskRow({ task }: { task: TaskJson }) {
  const id = task.id ?? "";
  const capability = capabilityOf(task);
  const title = titleOf(task);
  return (
    <tr className={styles.row}>
      <td>
        <StateBadge state={stateOf(task)} />
      </td>
      <td className={styles.what}>
        <Link
          to="/tasks/$id"
          params={{ id }}
          search={true}
          state={true}
          className={styles.link}
          data-row={id}
          activeOptions={{ includeSearch: false }}
        >
          {title}
        </Link>
        <span className={styles.facts}>
          {capability && capability !== title && <span>{capability}</span>}
          <code title={id}>{shortId(id)}</code>
        </span>
      </td>
      <td className={styles.context}>
        {task.contextId && (
          <Link
            to="."
            search={({ page: _, ...search }) => ({ ...search, context: task.contextId ?? "" })}
            className={styles.other}
            activeOptions={{ exact: true }}
            title={`Only context ${task.contextId}`}
          >
            <span className="visually-hidden">Only context </span>
            <code>{shortId(task.contextId)}</code>
          </Link>
        )}
      </td>
      <td className={styles.when}>
        <Time at={task.status?.timestamp} full />
      </td>
    </tr>
  );
}
