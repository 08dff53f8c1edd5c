// How a page of the task list changes under the mesh's feed of status changes. Pure.

import type { ListTasksResponseJson, TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import type { FeedEventJson } from "../api/gen/weft/v1/tasks_pb";
import { type StateKey, stateOf } from "./state";

/** Tasks on one page of the list. */
export const pageSizeMax = 50;

/** The page a list shows. Without a page token it is the newest one. */
export interface ListView {
  state?: StateKey | undefined;
  contextId?: string | undefined;
  page?: string | undefined;
}

export interface ListChange {
  list: ListTasksResponseJson;
  /** True when the feed could not say everything: read the page again. */
  incomplete: boolean;
}

export function applyFeed(list: ListTasksResponseJson, event: FeedEventJson, view: ListView): ListChange {
  const { taskId: id, contextId = "", status } = event;
  const newest = !view.page;
  if (event.lagged) return { list, incomplete: true };
  if (!id || !status) return { list, incomplete: false };

  const tasks = list.tasks ?? [];
  const known = tasks.find((task) => task.id === id);
  if (known && instant(known) > instant({ status })) return { list, incomplete: false };

  const matches =
    (!view.state || stateOf({ status }).key === view.state) &&
    (!view.contextId || view.contextId === contextId);
  if (known && !matches) {
    return { list: { ...list, tasks: tasks.filter((task) => task !== known) }, incomplete: true };
  }
  if (known) {
    const updated = tasks.map((task) => (task === known ? { ...task, status } : task));
    return { list: { ...list, tasks: newest ? newestFirst(updated) : updated }, incomplete: false };
  }
  if (!matches || !newest) return { list, incomplete: false };
  const fresh: TaskJson = {
    id,
    contextId,
    status,
    ...(event.capability && { metadata: { weft: { capability: event.capability } } }),
  };
  // The feed carries no message: the row is there at once, its words come with the next reading.
  return {
    list: { ...list, tasks: newestFirst([fresh, ...tasks]).slice(0, pageSizeMax) },
    incomplete: true,
  };
}

/** The order ListTasks has: newest status first. The sort is stable, so ties stay as the mesh gave them. */
function newestFirst(tasks: TaskJson[]): TaskJson[] {
  return tasks.toSorted((a, b) => instant(b) - instant(a));
}

function instant(task: Pick<TaskJson, "status">): number {
  return Date.parse(task.status?.timestamp ?? "") || 0;
}
