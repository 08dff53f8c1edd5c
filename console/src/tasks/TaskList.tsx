import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { FaultNotice } from "../ui/FaultNotice";
import { EmptyList } from "./EmptyList";
import { Pager } from "./Pager";
import { taskListQuery } from "./queries";
import { listView } from "./search";
import styles from "./TaskList.module.css";
import { TaskRow } from "./TaskRow";
import { useRowKeys } from "./useRowKeys";

const route = getRouteApi("/tasks");

/** One page of tasks, kept current by the feed. */
export function TaskList() {
  const search = route.useSearch();
  const list = useQuery({ ...taskListQuery(listView(search)), placeholderData: keepPreviousData });
  const onRowKey = useRowKeys();

  if (list.isPending) return <Skeleton />;
  const tasks = list.data?.tasks ?? [];
  return (
    <div className={styles.list} aria-busy={list.isPlaceholderData}>
      {list.isError && (
        <div className={styles.fault}>
          <FaultNotice what="Cannot list the tasks" error={list.error} onRetry={() => list.refetch()}>
            {search.page && (
              <Link to="." search={({ page: _, ...rest }) => rest}>
                Go to the newest
              </Link>
            )}
          </FaultNotice>
        </div>
      )}
      {list.data && tasks.length === 0 && <EmptyList filtered={Object.keys(search).length > 0} />}
      {tasks.length > 0 && (
        <table className={styles.table}>
          <caption className="visually-hidden">Tasks, newest status first</caption>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Task</th>
              <th scope="col" className={styles.context}>
                Context
              </th>
              <th scope="col" className={styles.when}>
                Updated
              </th>
            </tr>
          </thead>
          <tbody onKeyDown={onRowKey}>
            {tasks.map((task) => (
              <TaskRow key={task.id} task={task} />
            ))}
          </tbody>
        </table>
      )}
      <Pager next={list.data?.nextPageToken} total={list.data?.totalSize} />
    </div>
  );
}

function Skeleton() {
  return (
    <div className={styles.list} aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading the tasks
      </p>
      {[70, 45, 60, 50, 80].map((width) => (
        <div key={width} className={styles.bone}>
          <span style={{ width: "6rem" }} />
          <span style={{ width: `${width / 2}%` }} />
        </div>
      ))}
    </div>
  );
}
