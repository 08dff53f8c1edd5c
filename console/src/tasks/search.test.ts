import { expect, it } from "vitest";
import { parseTasksSearch } from "./search";

it("keeps what it knows and drops the rest", () => {
  expect(parseTasksSearch({ state: "working", context: " c ", page: "p", color: "red" })).toEqual({
    state: "working",
    context: "c",
    page: "p",
  });
  expect(parseTasksSearch({ state: "sleeping", context: "", page: 3 })).toEqual({});
});
