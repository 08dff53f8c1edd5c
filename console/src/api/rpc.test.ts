import { describe, expect, it } from "vitest";
import type { StreamResponseJson } from "./gen/lf/a2a/v1/a2a_pb";
import { createRpc, Fault } from "./rpc";

const json = { "content-type": "application/json" };
const sse = { "content-type": "text/event-stream" };

function answering(body: BodyInit | null, init: ResponseInit = { headers: json }) {
  const seen: Request[] = [];
  const fetchFn: typeof fetch = async (input, request) => {
    seen.push(new Request(new URL(String(input), "http://mesh.test"), request));
    return new Response(body, init);
  };
  return { rpc: createRpc(fetchFn), seen };
}

async function fault(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof Fault)) throw new Error(`expected a Fault, got ${String(error)}`);
  return error;
}

async function drain(stream: AsyncIterable<StreamResponseJson>) {
  const events: StreamResponseJson[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const notFound = {
  jsonrpc: "2.0",
  id: 1,
  error: {
    code: -32001,
    message: "task not found",
    data: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "TASK_NOT_FOUND",
        domain: "a2a-protocol.org",
      },
    ],
  },
};

describe("call", () => {
  it("posts a JSON-RPC envelope with the A2A version and gives back the result", async () => {
    const { rpc, seen } = answering(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { id: "t" } }));
    expect(await rpc.call("GetTask", { id: "t" })).toEqual({ id: "t" });
    expect(new URL(seen[0]?.url ?? "").pathname).toBe("/a2a");
    expect(seen[0]?.headers.get("a2a-version")).toBe("1.0");
    expect(seen[0]?.headers.get("idempotency-key")).toBeNull();
    expect(await seen[0]?.json()).toEqual({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "t" } });
  });

  it("sends the idempotency key it is given", async () => {
    const { rpc, seen } = answering(JSON.stringify({ result: {} }));
    await rpc.call("SendMessage", {}, { idempotencyKey: "k" });
    expect(seen[0]?.headers.get("idempotency-key")).toBe("k");
  });

  it("numbers its calls", async () => {
    const seen: unknown[] = [];
    const rpc = createRpc(async (_, init) => {
      seen.push(JSON.parse(String(init?.body)).id);
      return Response.json({ result: {} });
    });
    await rpc.call("A", {});
    await rpc.call("B", {});
    expect(seen).toEqual([1, 2]);
  });

  it("turns a stated error into a fault with code, reason and message", async () => {
    const { rpc } = answering(JSON.stringify(notFound));
    expect(await fault(rpc.call("GetTask", { id: "x" }))).toMatchObject({
      kind: "rpc",
      code: -32001,
      reason: "TASK_NOT_FOUND",
      message: "task not found",
    });
  });

  it("reads a stated error from an answer with an HTTP error status too", async () => {
    const { rpc } = answering(JSON.stringify(notFound), { status: 429, headers: json });
    expect((await fault(rpc.call("GetTask", {}))).reason).toBe("TASK_NOT_FOUND");
  });

  it("bears an error without details", async () => {
    const { rpc } = answering(JSON.stringify({ error: { code: -32700, message: "" } }));
    expect(await fault(rpc.call("GetTask", {}))).toMatchObject({ reason: "", message: "error -32700" });
  });

  it("says so when the answer is no JSON", async () => {
    const { rpc } = answering("<html>bad gateway</html>", { status: 502 });
    expect(await fault(rpc.call("GetTask", {}))).toMatchObject({ kind: "protocol", code: 502 });
  });

  it("says so when the answer is JSON but no envelope", async () => {
    const { rpc } = answering("[]");
    expect((await fault(rpc.call("GetTask", {}))).kind).toBe("protocol");
  });

  it("says so when nobody answers", async () => {
    const rpc = createRpc(() => Promise.reject(new TypeError("fetch failed")));
    expect(await fault(rpc.call("GetTask", {}))).toMatchObject({ kind: "network", code: 0 });
  });

  it("says so when the time is up", async () => {
    const rpc = createRpc(() => Promise.reject(new DOMException("the operation timed out", "TimeoutError")));
    expect(await fault(rpc.call("GetTask", {}))).toMatchObject({
      kind: "network",
      message: "the mesh did not answer within 60 seconds",
    });
  });

  it("keeps the caller's own abort apart from faults", async () => {
    const abort = new AbortController();
    const rpc = createRpc((_, init) => {
      abort.abort(new Error("left"));
      return Promise.reject(init?.signal?.reason);
    });
    await expect(rpc.call("GetTask", {}, { signal: abort.signal })).rejects.toThrow("left");
  });
});

describe("stream", () => {
  it("yields the result of each event", async () => {
    const frames = ['{"result":{"task":{"id":"t"}}}', '{"result":{"statusUpdate":{"taskId":"t"}}}'];
    const { rpc } = answering(frames.map((frame) => `data: ${frame}\n\n`).join(": ping\n\n"), {
      headers: sse,
    });
    expect(await drain(rpc.stream("SubscribeToTask", { id: "t" }))).toEqual([
      { task: { id: "t" } },
      { statusUpdate: { taskId: "t" } },
    ]);
  });

  it("fails with the stated error when the call is refused before the stream", async () => {
    const { rpc } = answering(JSON.stringify(notFound));
    expect((await fault(drain(rpc.stream("SubscribeToTask", { id: "t" })))).reason).toBe("TASK_NOT_FOUND");
  });

  it("fails with the stated error of an event inside the stream, after the events before it", async () => {
    const { rpc } = answering(
      `data: {"result":{"task":{"id":"t"}}}\n\ndata: ${JSON.stringify(notFound)}\n\n`,
      {
        headers: sse,
      },
    );
    const stream = rpc.stream("SubscribeToTask", { id: "t" });
    expect((await stream.next()).value).toEqual({ task: { id: "t" } });
    expect((await fault(stream.next())).reason).toBe("TASK_NOT_FOUND");
  });

  it("turns a broken body into a network fault", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new TypeError("connection reset")),
    });
    const { rpc } = answering(broken, { headers: sse });
    expect((await fault(drain(rpc.stream("SubscribeToTask", {})))).kind).toBe("network");
  });
});
