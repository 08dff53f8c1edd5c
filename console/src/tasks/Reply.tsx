import { useState } from "react";
import type { TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { MessageForm } from "./MessageForm";

/** The answer to a task that waits for one: the next turn of the same task. */
export function Reply({ task }: { task: TaskJson }) {
  const [text, setText] = useState("");
  return (
    <MessageForm
      label="Reply to this task"
      placeholder="Your answer…"
      text={text}
      onText={setText}
      turn={{ taskId: task.id ?? "", contextId: task.contextId }}
      onAnswer={() => setText("")}
    />
  );
}
