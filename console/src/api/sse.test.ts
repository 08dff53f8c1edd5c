import { describe, expect, it } from "vitest";
import { eventCharsMax, readEvents, SseParser } from "./sse";

function parse(...pieces: string[]) {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

function body(...pieces: (string | Uint8Array)[]) {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
      controller.close();
    },
  });
}

async function collect(stream: ReadableStream<Uint8Array>) {
  const data: string[] = [];
  for await (const event of readEvents(stream)) data.push(event.data);
  return data;
}

describe("SseParser", () => {
  it("gives one event for each blank line", () => {
    expect(parse("data: a\n\ndata: b\n\n")).toEqual([
      { type: "message", data: "a", id: "" },
      { type: "message", data: "b", id: "" },
    ]);
  });

  it("joins the data lines of one event by line feeds", () => {
    expect(parse("data: {\ndata:   1\ndata: }\n\n")[0]?.data).toBe("{\n  1\n}");
  });

  it.each(["\n", "\r\n", "\r"])("takes %j as a line ending, cut at every place", (ending) => {
    const text = ["event: task", "id: 7", "data: one", "data: two", "", "data: three", "", ""].join(ending);
    for (let cut = 0; cut <= text.length; cut += 1) {
      // A lone carriage return at the very end waits for what follows; a comment settles it.
      const events = parse(text.slice(0, cut), text.slice(cut), ":\n");
      expect(events).toEqual([
        { type: "task", data: "one\ntwo", id: "7" },
        { type: "message", data: "three", id: "7" },
      ]);
    }
  });

  it("reads the same events from single characters", () => {
    const text = "data: a\r\ndata: b\r\n\r\n: keep-alive\n\ndata: c\n\n";
    expect(parse(...text).map((event) => event.data)).toEqual(["a\nb", "c"]);
  });

  it("makes no event of comments, unknown fields or an event without data", () => {
    expect(parse(": ping\n\nretry: 5\n\nevent: task\n\n")).toEqual([]);
  });

  it("strips one space after the colon and no more", () => {
    expect(parse("data:  x\ndata:y\ndata\n\n")[0]?.data).toBe(" x\ny\n");
  });

  it("drops a byte order mark at the start only", () => {
    expect(parse("\uFEFFdata: a\n\n", "data: \uFEFF\n\n").map((event) => event.data)).toEqual([
      "a",
      "\uFEFF",
    ]);
  });

  it("gives up an event that never ends", () => {
    const parser = new SseParser();
    parser.push(`data: ${"x".repeat(eventCharsMax - 10)}`);
    expect(() => parser.push("more than ten characters")).toThrow(/the stream sent an event of more than/);
  });
});

describe("readEvents", () => {
  it("decodes a character cut between two chunks", async () => {
    const bytes = new TextEncoder().encode("data: 織\n\n");
    expect(await collect(body(bytes.slice(0, 7), bytes.slice(7)))).toEqual(["織"]);
  });

  it("drops an event the stream did not finish", async () => {
    expect(await collect(body("data: whole\n\ndata: half"))).toEqual(["whole"]);
  });

  it("cancels the body when the reader leaves early", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readEvents(stream)) break;
    expect(cancelled).toBe(true);
  });
});
