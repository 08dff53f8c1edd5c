/** A random UUID. `crypto.randomUUID` is missing on plain http away from loopback; random bytes are not. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, "0");
  }).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Enough of an id to tell it from its neighbours by eye. */
export function shortId(id: string | undefined): string {
  return (id ?? "").length > 13 ? `${id?.slice(0, 8)}…` : (id ?? "");
}
