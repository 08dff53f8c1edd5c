import { describe, expect, it } from "vitest";
import type { StreamResponseJson, TaskJson, TaskStateJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { Fault, type Rpc } from "../api/rpc";
import { backoffMs, backoffMsMax, backoffMsMin, follow } from "./follow";

const task = (state: TaskStateJson, more: Partial<TaskJson> = {}): TaskJson => ({
  id: "t",
  status: { state },
  ...more,
});
const status = (state: TaskStateJson): StreamResponseJson => ({
  statusUpdate: { taskId: "t", status: { state } },
});

const down = new Fault("network", 0, "", "the mesh cannot be reached");
const over = new Fault("rpc", -32004, "UNSUPPORTED_OPERATION", "task is terminal");
const gone = new Fault("rpc", -32001, "TASK_NOT_FOUND", "task not found");

/** Each connection is a list of events, ended by a fault when the last item is one. Then nothing more is expected. */
async function check(connections: (StreamResponseJson | Fault)[][], reads: (TaskJson | Fault)[]) {
  const log: string[] = [];
  const waits: number[] = [];
  const tasks: TaskJson[] = [];
  const rpc: Rpc = {
    async call<T>() {
      const next = reads.shift();
      if (!next) throw new Error("an unexpected read");
      if (next instanceof Fault) throw next;
      return next as T;
    },
    async *stream() {
      const events = connections.shift();
      if (!events) throw new Error("an unexpected connection");
      for (const event of events) {
        if (event instanceof Fault) throw event;
        yield event;
      }
    },
  };
  const to = {
    onTask: (next: TaskJson) => {
      tasks.push(next);
      log.push(next.status?.state?.replace("TASK_STATE_", "").toLowerCase() ?? "?");
    },
    onLink: (link: string) => {
      if (log.at(-1) !== `[${link}]`) log.push(`[${link}]`);
    },
    wait: async (ms: number) => {
      waits.push(ms);
    },
  };
  const error = await follow(rpc, "t", to, new AbortController().signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(connections).toEqual([]);
  expect(reads).toEqual([]);
  return { log: log.join(" "), waits, tasks, error };
}

describe("follow", () => {
  it("shows the snapshot, each event, and the settled task at the end", async () => {
    const { log } = await check(
      [
        [
          { task: task("TASK_STATE_SUBMITTED") },
          status("TASK_STATE_WORKING"),
          status("TASK_STATE_COMPLETED"),
        ],
      ],
      [task("TASK_STATE_COMPLETED")],
    );
    expect(log).toBe("[connecting] [live] submitted [live] working [live] completed completed [ended]");
  });

  it("reads a task once that ended before the subscription began", async () => {
    const { log, waits } = await check([[over]], [task("TASK_STATE_FAILED")]);
    expect(log).toBe("[connecting] failed [ended]");
    expect(waits).toEqual([]);
  });

  it("connects again when the stream breaks, and starts from the new snapshot", async () => {
    const { log, waits } = await check(
      [
        [{ task: task("TASK_STATE_WORKING") }, down],
        [{ task: task("TASK_STATE_WORKING") }, status("TASK_STATE_CANCELED")],
      ],
      [task("TASK_STATE_CANCELED")],
    );
    expect(log).toBe(
      "[connecting] [live] working [reconnecting] [live] working [live] canceled canceled [ended]",
    );
    expect(waits).toEqual([backoffMsMin]);
  });

  it("connects again when the stream ends cleanly before the task does", async () => {
    const { log } = await check(
      [[{ task: task("TASK_STATE_WORKING") }], [over]],
      [task("TASK_STATE_COMPLETED")],
    );
    expect(log).toBe("[connecting] [live] working [reconnecting] completed [ended]");
  });

  it("waits longer after each failure and forgets that once connected", async () => {
    const { waits } = await check(
      [[down], [down], [down], [{ task: task("TASK_STATE_WORKING") }, down], [over]],
      [task("TASK_STATE_COMPLETED")],
    );
    expect(waits).toEqual([500, 1000, 2000, 500]);
  });

  it("gives up when the mesh says that there is no such task", async () => {
    const { error, waits } = await check([[gone]], []);
    expect(error).toBe(gone);
    expect(waits).toEqual([]);
  });

  it("fetches the turn that ended an interruption", async () => {
    const asked = task("TASK_STATE_INPUT_REQUIRED");
    const answered = task("TASK_STATE_WORKING", { history: [{ messageId: "reply", role: "ROLE_USER" }] });
    const { tasks } = await check(
      [[{ task: asked }, status("TASK_STATE_WORKING"), status("TASK_STATE_COMPLETED")]],
      [answered, task("TASK_STATE_COMPLETED")],
    );
    expect(tasks.map((seen) => seen.history?.length ?? 0)).toEqual([0, 1, 1, 0]);
  });

  it("stops without a word once its signal is aborted", async () => {
    const abort = new AbortController();
    const rpc: Rpc = {
      call: () => Promise.reject(new Error("an unexpected read")),
      async *stream() {
        yield { task: task("TASK_STATE_WORKING") };
        abort.abort();
        throw abort.signal.reason;
      },
    };
    const links: string[] = [];
    const to = { onTask: () => {}, onLink: (link: string) => links.push(link), wait: async () => {} };
    await follow(rpc, "t", to, abort.signal);
    expect(links).toEqual(["connecting", "live"]);
  });
});

describe("backoffMs", () => {
  it("doubles up to its bound", () => {
    expect([1, 2, 3, 100].map(backoffMs)).toEqual([backoffMsMin, 1000, 2000, backoffMsMax]);
  });
});
