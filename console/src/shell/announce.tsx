// What changed, for those who hear the page instead of seeing it.

import { createContext, type ReactNode, use, useCallback, useState } from "react";

const AnnounceContext = createContext<(text: string) => void>(() => undefined);

/** Gives the function that has a sentence read out when the reader is idle. */
export function useAnnounce(): (text: string) => void {
  return use(AnnounceContext);
}

export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState({ text: "", turn: 0 });
  const announce = useCallback((text: string) => setSaid(({ turn }) => ({ text, turn: turn + 1 })), []);
  return (
    <AnnounceContext value={announce}>
      {children}
      {/* A new element for each sentence, so that the same words are read out again. */}
      <div className="visually-hidden" role="status">
        <span key={said.turn}>{said.text}</span>
      </div>
    </AnnounceContext>
  );
}
