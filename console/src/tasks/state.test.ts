import { expect, it } from "vitest";
import type { TaskStateJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { stateByKey, stateOf, states } from "./state";

it("every state has its own word and its own name in the URL", () => {
  expect(new Set(states.map((state) => state.word)).size).toBe(states.length);
  for (const state of states) {
    expect(stateOf({ status: { state: state.wire } })).toBe(state);
    expect(stateByKey(state.key)).toBe(state);
  }
});

it("exactly completed, failed, canceled and rejected are terminal", () => {
  const terminal = states.filter((state) => state.terminal).map((state) => state.key);
  expect(terminal).toEqual(["completed", "failed", "canceled", "rejected"]);
});

it("a state it does not know is unknown and not terminal", () => {
  expect(stateOf({ status: { state: "TASK_STATE_DREAMING" as TaskStateJson } })).toMatchObject({
    word: "Unknown",
    terminal: false,
  });
  expect(stateOf(undefined).word).toBe("Unknown");
  expect(stateByKey("TASK_STATE_WORKING")).toBeUndefined();
  expect(stateByKey(3)).toBeUndefined();
});
