import { Link } from "@tanstack/react-router";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { CopyButton } from "../ui/CopyButton";
import { LinkPill } from "../ui/LinkPill";
import { Time } from "../ui/Time";
import { CancelTask } from "./CancelTask";
import type { Link as StreamLink } from "./follow";
import { StateBadge } from "./StateBadge";
import { stateOf } from "./state";
import styles from "./TaskHead.module.css";
import { capabilityOf } from "./title";

/** What a task is and where it stands. */
export function TaskHead({ task, link }: { task: TaskJson; link: StreamLink }) {
  const capability = capabilityOf(task);
  return (
    <header className={styles.head}>
      <div className={styles.line}>
        <StateBadge state={stateOf(task)} size="large" />
        <Time at={task.status?.timestamp} full />
        <LinkPill link={link} of="This task" />
        <span className={styles.space} />
        <CancelTask task={task} />
      </div>
      <dl className={styles.facts}>
        <dt>Task</dt>
        <dd>
          <code>{task.id}</code> <CopyButton text={task.id ?? ""} what="task id" />
        </dd>
        {task.contextId && (
          <>
            <dt>Context</dt>
            <dd>
              <Link to="/tasks" search={{ context: task.contextId }} title="Show all tasks of this context">
                <code>{task.contextId}</code>
              </Link>
            </dd>
          </>
        )}
        {capability && (
          <>
            <dt>Capability</dt>
            <dd>
              <code>{capability}</code>
            </dd>
          </>
        )}
      </dl>
    </header>
  );
}
