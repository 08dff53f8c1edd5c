import { describe, expect, it } from "vitest";
import type { ListTasksResponseJson, TaskJson, TaskStateJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { applyFeed, type ListView, pageSizeMax } from "./feed";

const at = (seconds: number) => `2026-03-09T10:00:${String(seconds).padStart(2, "0")}Z`;
const task = (id: string, state: TaskStateJson, seconds: number): TaskJson => ({
  id,
  contextId: "c",
  status: { state, timestamp: at(seconds) },
  history: [{ messageId: id, parts: [{ text: id }] }],
});
const list: ListTasksResponseJson = {
  tasks: [task("b", "TASK_STATE_WORKING", 20), task("a", "TASK_STATE_WORKING", 10)],
  totalSize: 2,
};
const event = (taskId: string, state: TaskStateJson, seconds: number, contextId = "c") => ({
  taskId,
  contextId,
  status: { state, timestamp: at(seconds) },
  capability: "sector.movement",
});

function check(change: ReturnType<typeof event>, view: ListView, ids: string, incomplete: boolean) {
  const result = applyFeed(list, change, view);
  expect(result.list.tasks?.map((task) => task.id).join(" ")).toBe(ids);
  expect(result.incomplete).toBe(incomplete);
  return result.list;
}

describe("applyFeed", () => {
  it("moves a changed task to the top of the newest page and keeps its words", () => {
    const changed = check(event("a", "TASK_STATE_COMPLETED", 30), {}, "a b", false);
    expect(changed.tasks?.[0]?.status?.state).toBe("TASK_STATE_COMPLETED");
    expect(changed.tasks?.[0]?.history).toHaveLength(1);
  });

  it("changes a task in its place on an older page", () => {
    check(event("a", "TASK_STATE_COMPLETED", 30), { page: "token" }, "b a", false);
  });

  it("puts a new task on the newest page and asks for its words", () => {
    const changed = check(event("n", "TASK_STATE_SUBMITTED", 30), {}, "n b a", true);
    expect(changed.tasks?.[0]?.metadata).toEqual({ weft: { capability: "sector.movement" } });
  });

  it("keeps the page at its size", () => {
    const full = {
      tasks: Array.from({ length: pageSizeMax }, (_, index) => task(`${index}`, "TASK_STATE_WORKING", 20)),
    };
    const { tasks } = applyFeed(full, event("n", "TASK_STATE_SUBMITTED", 30), {}).list;
    expect(tasks?.map((task) => task.id)).toEqual(["n", ...full.tasks.slice(0, -1).map((task) => task.id)]);
  });

  it("leaves older pages alone when a task is new", () => {
    check(event("n", "TASK_STATE_SUBMITTED", 30), { page: "token" }, "b a", false);
  });

  it("takes away a task that no longer matches the filter and asks for what moves up", () => {
    check(event("a", "TASK_STATE_COMPLETED", 30), { state: "working" }, "b", true);
  });

  it("does not add a task that matches neither state nor context", () => {
    check(event("n", "TASK_STATE_SUBMITTED", 30), { state: "working" }, "b a", false);
    check(event("n", "TASK_STATE_WORKING", 30, "other"), { contextId: "c" }, "b a", false);
  });

  it("ignores an event that is older than what it shows", () => {
    expect(check(event("b", "TASK_STATE_SUBMITTED", 5), {}, "b a", false)).toBe(list);
  });

  it("asks for the page when the feed lagged", () => {
    expect(applyFeed(list, { lagged: true }, {})).toEqual({ list, incomplete: true });
  });

  it("ignores an event that says nothing", () => {
    expect(applyFeed(list, { taskId: "a" }, {})).toEqual({ list, incomplete: false });
  });
});
