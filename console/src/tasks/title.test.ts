import { expect, it } from "vitest";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { titleOf } from "./title";

function check(task: TaskJson, expected: string) {
  expect(titleOf(task)).toBe(expected);
}

const turn = (role: "ROLE_USER" | "ROLE_AGENT", ...parts: object[]) => ({ role, parts });

it("a task is called by what was asked first", () => {
  const history = [
    turn("ROLE_AGENT", { text: "hello" }),
    turn("ROLE_USER", { text: "who?" }),
    turn("ROLE_USER", { text: "x" }),
  ];
  check({ id: "t", history }, "who?");
});

it("without words it is called by its capability, else by its id", () => {
  const history = [turn("ROLE_USER", { data: {} })];
  check({ id: "t", history, metadata: { weft: { capability: "sector.movement" } } }, "sector.movement");
  check({ id: "t", history, metadata: { weft: { capability: 7 } } }, "Task t");
  check({ id: "t", history, metadata: { weft: null } }, "Task t");
  check({ id: "t" }, "Task t");
});
