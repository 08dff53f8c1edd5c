// What the URL of the task pages says.

import type { ListView } from "./feed";
import { type StateKey, stateByKey } from "./state";

export interface TasksSearch {
  state?: StateKey;
  /** A context id. */
  context?: string;
  /** The token of a page of the list; absent: the newest page. */
  page?: string;
}

/** Anything it does not know is dropped: an old or mistyped link still opens the page. */
export function parseTasksSearch(search: Record<string, unknown>): TasksSearch {
  const state = stateByKey(search.state)?.key;
  const context = text(search.context);
  const page = text(search.page);
  return { ...(state && { state }), ...(context && { context }), ...(page && { page }) };
}

export function listView({ state, context, page }: TasksSearch): ListView {
  return { state, contextId: context, page };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
