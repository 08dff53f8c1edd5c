import { describe, expect, it } from "vitest";
import type { StreamResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import type { CallOptions, Rpc } from "../api/rpc";
import { newId, shortId } from "./id";
import { firstAnswer } from "./useSend";

function mesh(...answers: StreamResponseJson[]) {
  const seen: { method: string; params: object; options: CallOptions | undefined; left: boolean }[] = [];
  const rpc: Rpc = {
    call: () => Promise.reject(new Error("an unexpected call")),
    async *stream(method, params, options) {
      const call = { method, params, options, left: false };
      seen.push(call);
      try {
        yield* answers;
      } finally {
        call.left = true;
      }
    },
  };
  return { rpc, seen };
}

const message = { messageId: "m", role: "ROLE_USER" as const, parts: [{ text: "hi" }] };

describe("firstAnswer", () => {
  it("gives back the task and leaves the stream", async () => {
    const { rpc, seen } = mesh({ task: { id: "t" } }, { statusUpdate: { taskId: "t" } });
    expect(await firstAnswer(rpc, message)).toEqual({ task: { id: "t" } });
    expect(seen).toMatchObject([
      { method: "SendStreamingMessage", params: { message }, options: { idempotencyKey: "m" }, left: true },
    ]);
  });

  it("fails when the stream ends without an answer", async () => {
    await expect(firstAnswer(mesh().rpc, message)).rejects.toMatchObject({ kind: "protocol" });
  });
});

it("a new id is a random UUID of version 4", () => {
  const ids = Array.from({ length: 100 }, newId);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});

it("a short id is cut only when it is long", () => {
  expect(shortId("0199f3c2-9a1b-7000-8000-000000000000")).toBe("0199f3c2…");
  expect(shortId("conversation1")).toBe("conversation1");
  expect(shortId(undefined)).toBe("");
});
