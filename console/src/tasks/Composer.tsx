import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { MessageJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { useDraft } from "./draft";
import { MessageForm } from "./MessageForm";
import { MessageView } from "./MessageView";

/** Asks the mesh for something new; the task that comes of it is opened. */
export function Composer() {
  const { text, setText, field } = useDraft();
  const [direct, setDirect] = useState<MessageJson>();
  const navigate = useNavigate();
  return (
    <div>
      <MessageForm
        label="New message to the mesh"
        placeholder="Ask the fleet something…"
        text={text}
        onText={setText}
        field={field}
        onAnswer={({ task, message }) => {
          setDirect(message);
          setText("");
          if (task?.id) navigate({ to: "/tasks/$id", params: { id: task.id }, search: true });
        }}
      />
      {direct && <MessageView message={direct} />}
    </div>
  );
}
