// One task: what became of it, what it made, what was said; live until it ends.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { usePageTitle } from "../shell/useRouteFocus";
import { FaultNotice } from "../ui/FaultNotice";
import { Artifacts } from "./Artifacts";
import { History } from "./History";
import { shortId } from "./id";
import { MessageView } from "./MessageView";
import { taskQuery } from "./queries";
import { Reply } from "./Reply";
import { stateOf } from "./state";
import { TaskHead } from "./TaskHead";
import styles from "./TaskPage.module.css";
import { titleOf } from "./title";
import { useFollow } from "./useFollow";

const route = getRouteApi("/tasks/$id");

export function TaskPage() {
  const { id } = route.useParams();
  // A key of its own for each task: no state of one leaks into the next.
  return <OneTask key={id} id={id} />;
}

function OneTask({ id }: { id: string }) {
  const query = useQuery(taskQuery(id));
  const task = query.data;
  const { link, fault } = useFollow(id, task);
  const title = task ? titleOf(task) : `Task ${shortId(id)}`;
  usePageTitle(title);
  return (
    <article className={styles.one} aria-labelledby="task-heading">
      <div className={styles.bar}>
        <Link to="/tasks" search={true} state={true} className={styles.back} activeOptions={{ exact: true }}>
          <span className={styles.backNarrow}>← All tasks</span>
          <span className={styles.backWide}>Close</span>
        </Link>
      </div>
      <h2 id="task-heading" className={styles.title} data-page-heading tabIndex={-1}>
        {title}
      </h2>
      {query.isPending && (
        <p className={styles.quiet} role="status">
          Reading the task…
        </p>
      )}
      {query.isError && !task && (
        <FaultNotice what="Cannot read the task" error={query.error} onRetry={() => query.refetch()} />
      )}
      {fault !== undefined && <FaultNotice what="Cannot follow the task" error={fault} />}
      {task && (
        <>
          <TaskHead task={task} link={link} />
          <Outcome task={task} />
          <Artifacts artifacts={task.artifacts ?? []} />
          <History turns={task.history ?? []} />
        </>
      )}
    </article>
  );
}

/** The status message, and the field for an answer when the task waits for one. */
function Outcome({ task }: { task: TaskJson }) {
  const state = stateOf(task);
  const message = task.status?.message;
  const asks = state.key === "input-required";
  if (!message && !asks) return null;
  return (
    <section className={styles.section} aria-label="Status">
      {message && <MessageView message={message} tone={state.tone} />}
      {asks && <Reply task={task} />}
    </section>
  );
}
