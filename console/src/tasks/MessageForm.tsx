import type { KeyboardEvent, RefObject } from "react";
import type { StreamResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { Button } from "../ui/Button";
import { FaultNotice } from "../ui/FaultNotice";
import styles from "./MessageForm.module.css";
import { type Turn, useSend } from "./useSend";

interface MessageFormProps {
  label: string;
  placeholder?: string;
  text: string;
  onText(text: string): void;
  field?: RefObject<HTMLTextAreaElement | null>;
  /** The task this message continues; none: a new one. */
  turn?: Turn;
  onAnswer(answer: StreamResponseJson): void;
}

/** A text field and its button. Enter sends, Shift and Enter make a new line. */
export function MessageForm({ label, placeholder, text, onText, field, turn, onAnswer }: MessageFormProps) {
  const send = useSend(turn, onAnswer);
  const ready = text.trim() !== "" && !send.isPending;

  function submit() {
    if (ready) send.mutate(text.trim());
  }

  function onKeyDown(event: KeyboardEvent) {
    // While an input method composes, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className={styles.box}>
        <textarea
          ref={field}
          className={styles.text}
          aria-label={label}
          placeholder={placeholder}
          rows={1}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button type="submit" look="primary" disabled={!ready}>
          {send.isPending ? "Sending…" : "Send"}
        </Button>
      </div>
      <p className={styles.hint}>
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line.
      </p>
      {send.isError && <FaultNotice what="Cannot send the message" error={send.error} onRetry={submit} />}
    </form>
  );
}
