// JSON-RPC 2.0 over the console's own origin: the A2A face of the mesh that served this page.

import type { StreamResponseJson } from "./gen/lf/a2a/v1/a2a_pb";
import { OversizedEvent, readEvents } from "./sse";

/** Where a call went wrong: no answer, an answer that is no JSON-RPC, or an error the mesh stated. */
export type FaultKind = "network" | "protocol" | "rpc";

export class Fault extends Error {
  readonly kind: FaultKind;
  /** JSON-RPC code, or the HTTP status of an answer that carries none; 0 without an answer. */
  readonly code: number;
  /** `google.rpc.ErrorInfo.reason`, for example `TASK_NOT_FOUND`; empty when not stated. */
  readonly reason: string;

  constructor(kind: FaultKind, code: number, reason: string, message: string) {
    super(message);
    this.name = "Fault";
    this.kind = kind;
    this.code = code;
    this.reason = reason;
  }
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Makes a repeated call answer the first one's task instead of making another. */
  idempotencyKey?: string;
}

export interface Rpc {
  /** One call, one answer. Rejects with a `Fault`, or with the signal's reason when aborted. */
  call<T>(method: string, params: object, options?: CallOptions): Promise<T>;
  /** One call, many answers, until the server closes. Leaving the loop drops the watch, never the task. */
  stream(method: string, params: object, options?: CallOptions): AsyncGenerator<StreamResponseJson>;
}

/** How long a plain call may take, in milliseconds. Streams have no such limit: they are kept alive by comments. */
export const callMsMax = 60_000;

export function createRpc(fetchFn: typeof fetch = (input, init) => fetch(input, init), url = "a2a"): Rpc {
  let lastId = 0;

  async function post(
    method: string,
    params: object,
    options: CallOptions,
    accept: string,
  ): Promise<Response> {
    lastId += 1;
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept,
      "a2a-version": "1.0",
    };
    if (options.idempotencyKey) headers["idempotency-key"] = options.idempotencyKey;
    const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params });
    try {
      return await fetchFn(url, { method: "POST", headers, body, signal: options.signal ?? null });
    } catch (error) {
      throw unanswered(error, options.signal);
    }
  }

  return {
    async call<T>(method: string, params: object, options: CallOptions = {}) {
      const limit = AbortSignal.timeout(callMsMax);
      const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
      const response = await post(method, params, { ...options, signal }, "application/json");
      return result<T>(await envelope(response, options.signal));
    },

    async *stream(method: string, params: object, options: CallOptions = {}) {
      const response = await post(method, params, options, "text/event-stream, application/json");
      const type = response.headers.get("content-type") ?? "";
      if (!response.ok || !type.startsWith("text/event-stream") || !response.body) {
        // A call refused before its stream began is answered by plain JSON.
        yield result<StreamResponseJson>(await envelope(response, options.signal));
        return;
      }
      const events = readEvents(response.body);
      try {
        for await (const event of events)
          yield result<StreamResponseJson>(parse(event.data, response.status));
      } catch (error) {
        throw error instanceof Fault ? error : unanswered(error, options.signal);
      }
    },
  };
}

async function envelope(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unanswered(error, signal);
  }
  return parse(text, response.status);
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault("protocol", status, "", `the mesh answered HTTP ${status} without JSON`);
  }
}

function result<T>(envelope: unknown): T {
  if (isObject(envelope)) {
    if (isObject(envelope.error)) throw stated(envelope.error);
    if ("result" in envelope) return envelope.result as T;
  }
  throw new Fault("protocol", 0, "", "the mesh's answer is not a JSON-RPC envelope");
}

function stated(error: Record<string, unknown>): Fault {
  const details = Array.isArray(error.data) ? error.data.filter(isObject) : [];
  const reason = details.map((detail) => detail.reason).find((reason) => typeof reason === "string") ?? "";
  const code = typeof error.code === "number" ? error.code : 0;
  const message = typeof error.message === "string" && error.message ? error.message : `error ${code}`;
  return new Fault("rpc", code, reason as string, message);
}

/** The reason of an abort by the caller is kept as it is: it is no fault of the mesh. */
function unanswered(error: unknown, signal: AbortSignal | undefined): unknown {
  const reason: unknown = signal?.aborted ? signal.reason : error;
  if (reason instanceof DOMException && reason.name === "TimeoutError") {
    return new Fault("network", 0, "", `the mesh did not answer within ${callMsMax / 1000} seconds`);
  }
  if (signal?.aborted) return reason;
  if (error instanceof OversizedEvent) {
    return new Fault("protocol", 0, "", error.message);
  }
  return new Fault("network", 0, "", "the mesh cannot be reached");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
