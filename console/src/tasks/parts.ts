// What a part is to the reader. Nothing a part holds is ever markup.

import type { MessageJson, PartJson } from "../api/gen/lf/a2a/v1/a2a_pb";

export type PartView =
  | { kind: "text"; text: string; label: string }
  | { kind: "data"; json: string; label: string }
  /** `href` is undefined when the address is not http(s): then it is shown, not linked. */
  | { kind: "link"; url: string; href: string | undefined; label: string }
  | { kind: "file"; base64: string; bytes: number; filename: string; label: string }
  | { kind: "empty"; label: string };

/** Parts in reading order; neighbouring pieces of plain text, as streams send them, are read as one. */
export function viewParts(parts: readonly PartJson[] | undefined): PartView[] {
  const views: PartView[] = [];
  for (const part of parts ?? []) {
    const view = viewPart(part);
    const last = views.at(-1);
    if (view.kind === "text" && last?.kind === "text" && last.label === view.label) last.text += view.text;
    else views.push(view);
  }
  return views;
}

function viewPart(part: PartJson): PartView {
  const label = [part.filename, part.mediaType].filter(Boolean).join(" · ");
  if (part.text !== undefined) return { kind: "text", text: part.text, label };
  // `data` may be the JSON value null: what counts is that the member is there.
  if ("data" in part && part.data !== undefined) {
    return { kind: "data", json: JSON.stringify(part.data, null, 2), label };
  }
  if (part.url !== undefined) return { kind: "link", url: part.url, href: httpHref(part.url), label };
  if (part.raw !== undefined) {
    return {
      kind: "file",
      base64: part.raw,
      bytes: base64Bytes(part.raw),
      filename: safeFilename(part),
      label,
    };
  }
  return { kind: "empty", label };
}

/** The address when it is absolute http or https; anything else is not to be followed. */
export function httpHref(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed && (parsed.protocol === "http:" || parsed.protocol === "https:") ? parsed.href : undefined;
}

/** All text of a message on one line, at most `max` characters. */
export function firstText(message: MessageJson | undefined, max = 200): string {
  const text = (message?.parts ?? []).map((part) => part.text ?? "").join(" ");
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function base64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor(((base64.length - padding) * 3) / 4));
}

function safeFilename(part: PartJson): string {
  const name = (part.filename ?? "").split(/[/\\]/).at(-1) ?? "";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
  return name.replace(/[\u0000-\u001f\u007f<>:"|?*\u202a-\u202e\u2066-\u2069]/g, "_") || "part.bin";
}
