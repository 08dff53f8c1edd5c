// Points in time as an operator reads them.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, to the nearest lower unit: `now`, `12 s ago`, `4 min ago`, `3 h ago`, `2 d ago`. */
export function relative(at: number, now: number): string {
  const ago = now - at;
  // A clock that runs a little ahead is not news; one that runs far ahead is.
  if (ago < -minute) return `in ${span(-ago)}`;
  if (ago < 5 * second) return "now";
  return `${span(ago)} ago`;
}

function span(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} d`;
}

/** `2026-03-09 14:05:07` in the given time zone; the reader's own when none is given. */
export function absolute(at: number, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    ...(timeZone && { timeZone }),
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((found) => found.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

/** The instant an RFC 3339 text names; undefined when it names none. */
export function instantOf(text: string | undefined): number | undefined {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
}
