// What a task is called.

import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { shortId } from "./id";
import { firstText } from "./parts";

/** The capability that was chosen for the task, as the mesh's own metadata says; empty when it does not. */
export function capabilityOf(task: TaskJson): string {
  const weft = task.metadata?.weft;
  const capability =
    typeof weft === "object" && weft !== null && "capability" in weft ? weft.capability : undefined;
  return typeof capability === "string" ? capability : "";
}

/** The first thing a user said, as far as the history goes; else what it runs, else its id. */
export function titleOf(task: TaskJson): string {
  const asked = task.history?.find((message) => message.role === "ROLE_USER" && firstText(message) !== "");
  return firstText(asked) || capabilityOf(task) || `Task ${shortId(task.id)}`;
}
