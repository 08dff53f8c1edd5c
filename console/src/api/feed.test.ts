import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openFeed, reopenMs, type Source } from "./feed";

class FakeSource implements Source {
  readyState = 0;
  onopen: ((event: Event) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  closed = false;
  #listeners = new Map<string, (event: MessageEvent<string>) => void>();

  addEventListener(type: string, listener: (event: MessageEvent<string>) => void) {
    this.#listeners.set(type, listener);
  }
  close() {
    this.closed = true;
  }
  send(data: string) {
    this.#listeners.get("task")?.(new MessageEvent("task", { data }));
  }
  fail(readyState: number) {
    this.readyState = readyState;
    this.onerror?.(new Event("error"));
  }
  begin() {
    this.onopen?.(new Event("open"));
  }
}

function opened() {
  const sources: FakeSource[] = [];
  const log: string[] = [];
  const close = openFeed(
    {
      onEvent: (event) => log.push(event.lagged ? "lagged" : `event ${event.taskId}`),
      onOpen: () => log.push("open"),
      onLink: (link) => log.push(`[${link}]`),
    },
    () => {
      const source = new FakeSource();
      sources.push(source);
      return source;
    },
  );
  const source = (index: number) => sources[index] ?? expect.fail(`no connection ${index}`);
  return { source, log, close, count: () => sources.length };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("says open at every connection and passes events on", () => {
  const { source, log } = opened();
  source(0).begin();
  source(0).send('{"taskId":"t"}');
  source(0).fail(0);
  source(0).begin();
  expect(log).toEqual(["[connecting]", "[live]", "open", "event t", "[reconnecting]", "[live]", "open"]);
});

it("counts an event it cannot read as missed", () => {
  const { source, log } = opened();
  source(0).send("{");
  source(0).send("7");
  expect(log).toEqual(["[connecting]", "lagged", "lagged"]);
});

it("leaves a lost connection to the browser and opens a refused one again", () => {
  const { source, count } = opened();
  source(0).fail(0);
  vi.advanceTimersByTime(reopenMs * 2);
  expect(count()).toBe(1);
  source(0).fail(2);
  vi.advanceTimersByTime(reopenMs);
  expect(count()).toBe(2);
});

it("stays closed once closed", () => {
  const { source, close, count } = opened();
  source(0).fail(2);
  close();
  vi.advanceTimersByTime(reopenMs * 2);
  expect(source(0).closed).toBe(true);
  expect(count()).toBe(1);
});
