import { useEffect, useState } from "react";
import { Button } from "./Button";

const doneMs = 1_500;

/** Copies a text; absent where the browser has no clipboard to give (plain http away from loopback). */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), doneMs);
    return () => clearTimeout(timer);
  }, [done]);
  if (!("clipboard" in navigator)) return null;
  return (
    <Button
      look="quiet"
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setDone(true),
          () => setDone(false),
        )
      }
    >
      <span aria-live="polite">{done ? "Copied" : "Copy"}</span>
      <span className="visually-hidden"> {what}</span>
    </Button>
  );
}
