// What the task pages read.

import { queryOptions } from "@tanstack/react-query";
import type { ListTasksRequestJson, ListTasksResponseJson, TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { rpc } from "../api/mesh";
import { type ListView, pageSizeMax } from "./feed";
import { stateByKey } from "./state";

/** Most recent turns read for each row of the list: enough to find what was asked. */
const rowHistoryLength = 10;

export const taskListKey = ["tasks", "list"] as const;

/** One page of tasks, newest status first. Kept current by the feed. */
export function taskListQuery(view: ListView) {
  const { state, contextId, page } = view;
  const status = stateByKey(state)?.wire;
  const request: ListTasksRequestJson = {
    pageSize: pageSizeMax,
    historyLength: rowHistoryLength,
    ...(status && { status }),
    ...(contextId && { contextId }),
    ...(page && { pageToken: page }),
  };
  return queryOptions({
    queryKey: [...taskListKey, view],
    queryFn: ({ signal }) => rpc.call<ListTasksResponseJson>("ListTasks", request, { signal }),
  });
}

/** One task with its turns and artifacts. Kept current by its stream while it is alive. */
export function taskQuery(id: string) {
  return queryOptions({
    queryKey: ["tasks", "one", id],
    queryFn: ({ signal }) => rpc.call<TaskJson>("GetTask", { id }, { signal }),
  });
}
