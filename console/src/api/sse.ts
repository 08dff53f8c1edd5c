// Server-sent events out of a fetch body: `EventSource` cannot POST, and A2A streams are answers to a POST.

export interface SseEvent {
  /** The event's name; `message` when the server gave none. */
  type: string;
  /** All `data:` lines of the event, joined by line feeds. */
  data: string;
  /** The last event id seen so far; empty when none. */
  id: string;
}

/** Characters an unfinished event may hold before the stream is given up. */
export const eventCharsMax = 16 * 1024 * 1024;

export class OversizedEvent extends Error {
  constructor() {
    super(`the stream sent an event of more than ${eventCharsMax} characters`);
    this.name = "OversizedEvent";
  }
}

/** Takes text in pieces of any size, also cut inside a line ending, and gives back the events they complete. */
export class SseParser {
  #rest = "";
  #data: string[] = [];
  #chars = 0;
  #type = "";
  #id = "";
  #started = false;

  push(text: string): SseEvent[] {
    if (!this.#started && text !== "") {
      this.#started = true;
      if (text.startsWith("\uFEFF")) text = text.slice(1);
    }
    const events: SseEvent[] = [];
    const buffer = this.#rest + text;
    const ending = /\r\n|\r(?!$)|\n/g;
    // What was searched before holds no line ending, but for a last carriage return.
    ending.lastIndex = Math.max(0, this.#rest.length - 1);
    let start = 0;
    for (let found = ending.exec(buffer); found; found = ending.exec(buffer)) {
      const event = this.#line(buffer.slice(start, found.index));
      if (event) events.push(event);
      start = ending.lastIndex;
    }
    this.#rest = buffer.slice(start);
    if (this.#rest.length + this.#chars > eventCharsMax) throw new OversizedEvent();
    return events;
  }

  #line(line: string): SseEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") {
      this.#data.push(value);
      this.#chars += value.length;
    } else if (field === "event") {
      this.#type = value;
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value;
    }
    // A line that starts with a colon is a comment (keep-alive); `retry` and unknown fields mean nothing here.
    return undefined;
  }

  #dispatch(): SseEvent | undefined {
    const event =
      this.#data.length > 0
        ? { type: this.#type || "message", data: this.#data.join("\n"), id: this.#id }
        : undefined;
    this.#data = [];
    this.#chars = 0;
    this.#type = "";
    return event;
  }
}

/** The events of a response body, until it ends. Leaving the loop early cancels the request. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<SseEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // The body may be broken already: then there is nothing left to cancel.
    await reader.cancel().catch(() => undefined);
  }
}
