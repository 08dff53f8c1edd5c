import type { MessageJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import styles from "./MessageView.module.css";
import { Parts } from "./Parts";
import type { Tone } from "./state";

interface MessageViewProps {
  message: MessageJson;
  tone?: Tone;
}

/** One turn: who spoke, and the parts of what was said. */
export function MessageView({ message, tone }: MessageViewProps) {
  const user = message.role === "ROLE_USER";
  return (
    <div className={styles.message} data-role={user ? "user" : "agent"} data-tone={tone}>
      <p className={styles.who}>{user ? "User" : "Agent"}</p>
      <Parts parts={message.parts} />
    </div>
  );
}
