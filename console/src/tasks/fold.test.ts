import { describe, expect, it } from "vitest";
import type { MessageJson, StreamResponseJson, TaskJson, TaskStateJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { fold, withHistoryOf } from "./fold";

const ask: MessageJson = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "who?" }] };
const start: TaskJson = {
  id: "t",
  contextId: "c",
  status: { state: "TASK_STATE_SUBMITTED", timestamp: "2026-03-09T10:00:00Z" },
  history: [ask],
};

const say = (messageId: string): MessageJson => ({
  messageId,
  role: "ROLE_AGENT",
  parts: [{ text: messageId }],
});

function status(state: TaskStateJson, message?: MessageJson): StreamResponseJson {
  return { statusUpdate: { taskId: "t", contextId: "c", status: { state, ...(message && { message }) } } };
}

function chunk(artifactId: string, text: string, more: object = {}): StreamResponseJson {
  return {
    artifactUpdate: { taskId: "t", contextId: "c", artifact: { artifactId, parts: [{ text }] }, ...more },
  };
}

const run = (...events: StreamResponseJson[]) =>
  events.reduce<TaskJson | undefined>((task, event) => fold(task, event), start);

const texts = (task: TaskJson | undefined) =>
  task?.artifacts?.map((artifact) => artifact.parts?.map((part) => part.text));

describe("fold", () => {
  it("starts with the snapshot and ignores events before it", () => {
    expect(fold(undefined, status("TASK_STATE_WORKING"))).toBeUndefined();
    expect(fold(undefined, { task: start })).toBe(start);
  });

  it("replaces the task by a later snapshot of it", () => {
    const later = { ...start, status: { state: "TASK_STATE_WORKING" as const } };
    expect(run({ task: later })).toBe(later);
  });

  it("takes the new status whole", () => {
    const event = status("TASK_STATE_WORKING", say("s1"));
    expect(run(event)?.status).toEqual(event.statusUpdate?.status);
  });

  it("moves a superseded status message into the history, once", () => {
    const task = run(status("TASK_STATE_WORKING", say("s1")), status("TASK_STATE_WORKING", say("s2")));
    expect(task?.history?.map((turn) => turn.messageId)).toEqual(["m1", "s1"]);
    const again = run(status("TASK_STATE_WORKING", say("m1")), status("TASK_STATE_COMPLETED"));
    expect(again?.history?.map((turn) => turn.messageId)).toEqual(["m1"]);
  });

  it("adds an artifact it has not seen, also when the first chunk says append", () => {
    expect(texts(run(chunk("a", "1"), chunk("b", "2", { append: true })))).toEqual([["1"], ["2"]]);
  });

  it("appends the parts of a chunk to the artifact of the same id only", () => {
    const task = run(chunk("a", "1"), chunk("b", "x"), chunk("a", "2", { append: true, lastChunk: true }));
    expect(texts(task)).toEqual([["1", "2"], ["x"]]);
  });

  it("replaces an artifact that is sent again without append", () => {
    expect(texts(run(chunk("a", "draft"), chunk("a", "final")))).toEqual([["final"]]);
  });

  it("keeps an artifact's name when a chunk has none and takes a newer one", () => {
    const named = fold(start, {
      artifactUpdate: {
        taskId: "t",
        artifact: { artifactId: "a", name: "old", parts: [], metadata: { x: 1 } },
      },
    });
    const appended = fold(named, chunk("a", "1", { append: true }));
    expect(appended?.artifacts?.[0]).toMatchObject({ name: "old", metadata: { x: 1 } });
    const renamed = fold(appended, {
      artifactUpdate: {
        taskId: "t",
        append: true,
        artifact: { artifactId: "a", name: "new", metadata: { y: 2 } },
      },
    });
    expect(renamed?.artifacts?.[0]).toMatchObject({
      name: "new",
      metadata: { x: 1, y: 2 },
      parts: [{ text: "1" }],
    });
  });

  it("changes nothing for events of another task or of an unknown kind", () => {
    expect(fold(start, { statusUpdate: { taskId: "other", status: { state: "TASK_STATE_FAILED" } } })).toBe(
      start,
    );
    expect(fold(start, { artifactUpdate: { taskId: "other", artifact: { artifactId: "a" } } })).toBe(start);
    expect(fold(start, { task: { ...start, id: "other" } })).toBe(start);
    expect(fold(start, {})).toBe(start);
  });

  it("never changes the task it was given", () => {
    const frozen = Object.freeze({ ...start, artifacts: Object.freeze([]) as unknown as [] });
    expect(() => fold(fold(frozen, chunk("a", "1")), chunk("a", "2", { append: true }))).not.toThrow();
    expect(frozen.artifacts).toEqual([]);
  });
});

describe("withHistoryOf", () => {
  const reply: MessageJson = { messageId: "m2", role: "ROLE_USER", parts: [{ text: "me" }] };

  it("takes the turns a stream does not carry, and nothing else", () => {
    const task = run(chunk("a", "1"), status("TASK_STATE_WORKING")) as TaskJson;
    const read = { ...start, history: [ask, say("q"), reply] };
    expect(withHistoryOf(task, read)).toEqual({ ...task, history: read.history });
  });

  it("leaves out the message that is the present status", () => {
    const task = run(status("TASK_STATE_WORKING", say("s"))) as TaskJson;
    expect(withHistoryOf(task, { ...start, history: [ask, reply, say("s")] }).history).toEqual([ask, reply]);
  });

  it("keeps what it has when the other reading knows less", () => {
    const task = { ...start, history: [ask, reply] };
    expect(withHistoryOf(task, start)).toBe(task);
  });
});
