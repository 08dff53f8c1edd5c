// Task states as the operator meets them: a word, a tone, and what may still happen.

import type { TaskJson, TaskStateJson } from "../api/gen/lf/a2a/v1/a2a_pb";

/** A state's name in the URL. */
export type StateKey =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected"
  | "unknown";

/** What a colour stands for; never shown without the word. */
export type Tone = "idle" | "active" | "asking" | "good" | "bad" | "off";

export interface StateView {
  key: StateKey;
  wire: TaskStateJson;
  word: string;
  tone: Tone;
  /** Nothing can happen to the task any more. */
  terminal: boolean;
}

const view = (key: StateKey, wire: TaskStateJson, word: string, tone: Tone, terminal = false): StateView => ({
  key,
  wire,
  word,
  tone,
  terminal,
});

const unknown = view("unknown", "TASK_STATE_UNSPECIFIED", "Unknown", "off");

/** In the order the filter shows them: alive first, then ended. */
export const states: readonly StateView[] = [
  view("submitted", "TASK_STATE_SUBMITTED", "Submitted", "idle"),
  view("working", "TASK_STATE_WORKING", "Working", "active"),
  view("input-required", "TASK_STATE_INPUT_REQUIRED", "Input required", "asking"),
  view("auth-required", "TASK_STATE_AUTH_REQUIRED", "Auth required", "asking"),
  view("completed", "TASK_STATE_COMPLETED", "Completed", "good", true),
  view("failed", "TASK_STATE_FAILED", "Failed", "bad", true),
  view("canceled", "TASK_STATE_CANCELED", "Canceled", "off", true),
  view("rejected", "TASK_STATE_REJECTED", "Rejected", "bad", true),
];

const byWire = new Map(states.map((state) => [state.wire, state]));
const byKey = new Map(states.map((state) => [state.key as string, state]));

/** A state this console does not know is shown as unknown, and as one that may still change. */
export function stateOf(task: Pick<TaskJson, "status"> | undefined): StateView {
  return byWire.get(task?.status?.state ?? "TASK_STATE_UNSPECIFIED") ?? unknown;
}

/** The state a URL names; undefined for anything else. */
export function stateByKey(key: unknown): StateView | undefined {
  return typeof key === "string" ? byKey.get(key) : undefined;
}
