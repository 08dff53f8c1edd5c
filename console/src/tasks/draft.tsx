// What the operator is about to ask. Shared, since the fleet's examples write into it.

import { useNavigate } from "@tanstack/react-router";
import { createContext, type ReactNode, type RefObject, use, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";

interface Draft {
  text: string;
  setText(text: string): void;
  /** The composer's text field, to give it focus. */
  field: RefObject<HTMLTextAreaElement | null>;
  /** Puts an example into the composer and goes there. */
  fill(example: string): void;
}

const DraftContext = createContext<Draft | undefined>(undefined);

export function useDraft(): Draft {
  const draft = use(DraftContext);
  if (!draft) throw new Error("useDraft needs a DraftProvider around it");
  return draft;
}

export function DraftProvider({ children }: { children: ReactNode }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const navigate = useNavigate();
  const draft = useMemo<Draft>(
    () => ({
      text,
      setText,
      field,
      async fill(example) {
        flushSync(() => setText(example));
        // On a narrow screen a task hides the list and the composer with it.
        if (!field.current?.checkVisibility()) await navigate({ to: "/tasks", search: (now) => now });
        field.current?.focus();
      },
    }),
    [text, navigate],
  );
  return <DraftContext value={draft}>{children}</DraftContext>;
}
