// All tasks of this owner: ask for a new one, filter, page, and keep the list in sight while one is open.

import { Outlet, useChildMatches } from "@tanstack/react-router";
import { usePageTitle } from "../shell/useRouteFocus";
import { Composer } from "./Composer";
import { Filters } from "./Filters";
import { TaskList } from "./TaskList";
import styles from "./TasksPage.module.css";

export function TasksPage() {
  const one = useChildMatches({ select: (matches) => matches.length > 0 });
  usePageTitle(one ? undefined : "Tasks");
  return (
    <div className={styles.page} data-one={one}>
      <section className={styles.all} aria-labelledby="tasks-heading">
        <div className={styles.top}>
          <h1 id="tasks-heading" data-page-heading tabIndex={-1}>
            Tasks
          </h1>
          <Composer />
          <Filters />
        </div>
        <TaskList />
      </section>
      <Outlet />
    </div>
  );
}
