// The mesh's feed of task status changes: an EventSource that is opened again whenever it is given up.

import type { FeedEventJson } from "./gen/weft/v1/tasks_pb";

export type FeedLink = "connecting" | "live" | "reconnecting";

export interface FeedReader {
  onEvent(event: FeedEventJson): void;
  /** Every time a connection begins: events before it are not in the feed, so read the list again. */
  onOpen(): void;
  onLink(link: FeedLink): void;
}

/** What is used of `EventSource`. */
export interface Source {
  readonly readyState: number;
  onopen: ((event: Event) => void) | null;
  onerror: ((event: Event) => void) | null;
  addEventListener(type: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

/** How long to wait before opening again a feed that the browser gave up, in milliseconds. */
export const reopenMs = 3_000;

const closed = 2;

/** Opens the feed; the returned function closes it for good. */
export function openFeed(
  reader: FeedReader,
  connect: () => Source = () => new EventSource("api/tasks/feed"),
): () => void {
  let source: Source;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open() {
    source = connect();
    source.onopen = () => {
      reader.onLink("live");
      reader.onOpen();
    };
    source.onerror = () => {
      reader.onLink("reconnecting");
      // After a lost connection the browser tries again by itself; after a refusal it does not.
      if (source.readyState === closed) timer = setTimeout(open, reopenMs);
    };
    source.addEventListener("task", (event) => {
      const parsed = parse(event.data);
      // An event that cannot be read is an event that was missed.
      reader.onEvent(parsed ?? { lagged: true });
    });
  }

  reader.onLink("connecting");
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

function parse(data: string): FeedEventJson | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
