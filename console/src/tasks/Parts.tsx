// Parts on the page. All of it is text to React: no string of an agent ever becomes markup.

import { useState } from "react";
import type { PartJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import styles from "./Parts.module.css";
import { decodeBase64, formatBytes, type PartView, viewParts } from "./parts";

/** Characters shown at first; more would make the browser slow, so it is asked for. */
const shownCharsMax = 50_000;

export function Parts({ parts }: { parts: PartJson[] | undefined }) {
  const views = viewParts(parts);
  if (views.length === 0) return <p className={styles.label}>Empty.</p>;
  return views.map((view, index) => (
    // Parts have no identity but their place, and none ever moves.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above.
    <div key={index} className={styles.part}>
      {view.label && <p className={styles.label}>{view.label}</p>}
      <Part view={view} />
    </div>
  ));
}

function Part({ view }: { view: PartView }) {
  switch (view.kind) {
    case "text":
      return <LongText text={view.text} kind="text" />;
    case "data":
      return <LongText text={view.json} kind="data" />;
    case "link":
      return view.href ? (
        <a className={styles.url} href={view.href} target="_blank" rel="noopener noreferrer">
          {view.url}
          <span className="visually-hidden"> (opens a new tab)</span>
        </a>
      ) : (
        <p className={styles.url}>
          <code>{view.url}</code> <span className={styles.label}>not a web address, so not linked</span>
        </p>
      );
    case "file":
      return (
        <Button onClick={() => download(view.base64, view.filename)}>
          Download {view.filename} ({formatBytes(view.bytes)})
        </Button>
      );
    case "empty":
      return <p className={styles.label}>An empty part.</p>;
  }
}

function LongText({ text, kind }: { text: string; kind: "text" | "data" }) {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > shownCharsMax;
  const shown = cut ? text.slice(0, shownCharsMax) : text;
  return (
    <>
      {kind === "text" ? (
        <p className={styles.text}>{shown}</p>
      ) : (
        // Focusable, so that the keyboard can scroll it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above.
        <section className={styles.data} tabIndex={0} aria-label="JSON data">
          <pre>{shown}</pre>
        </section>
      )}
      <div className={styles.ways}>
        {cut && (
          <Button look="quiet" onClick={() => setAll(true)}>
            Show all {text.length.toLocaleString("en")} characters
          </Button>
        )}
        {kind === "data" && <CopyButton text={text} what="JSON data" />}
      </div>
    </>
  );
}

/** Always a download, never a page: the type says only that these are bytes. */
function download(base64: string, filename: string) {
  const url = URL.createObjectURL(new Blob([decodeBase64(base64)], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  URL.revokeObjectURL(url);
}
