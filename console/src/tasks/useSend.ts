// Sending a message: as a stream, left once the mesh has said what became of it.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import type { MessageJson, StreamResponseJson } from "../api/gen/lf/a2a/v1/a2a_pb";
import { rpc } from "../api/mesh";
import { callMsMax, Fault, type Rpc } from "../api/rpc";
import { newId } from "./id";
import { taskQuery } from "./queries";

/** The task a message continues. */
export interface Turn {
  taskId: string;
  contextId?: string | undefined;
}

/**
 * The first answer to a message: the task it opened or continued, already on disk, or a message in reply. The stream
 * is left then: the work goes on, and whoever wants to see it follows the task.
 */
export async function firstAnswer(mesh: Rpc, message: MessageJson): Promise<StreamResponseJson> {
  const options = { idempotencyKey: message.messageId ?? "", signal: AbortSignal.timeout(callMsMax) };
  for await (const event of mesh.stream("SendStreamingMessage", { message }, options)) return event;
  throw new Fault("protocol", 0, "", "the mesh closed the stream without an answer");
}

export function useSend(turn: Turn | undefined, onAnswer: (answer: StreamResponseJson) => void) {
  const client = useQueryClient();
  // Kept until answered, so that sending again after a lost answer finds the first task instead of making a second.
  const unanswered = useRef<{ text: string; id: string }>(undefined);
  return useMutation({
    mutationFn: (text: string) => {
      if (unanswered.current?.text !== text) unanswered.current = { text, id: newId() };
      return firstAnswer(rpc, {
        messageId: unanswered.current.id,
        role: "ROLE_USER",
        parts: [{ text }],
        ...(turn && { taskId: turn.taskId }),
        ...(turn?.contextId && { contextId: turn.contextId }),
      });
    },
    onSuccess: (answer) => {
      unanswered.current = undefined;
      if (answer.task?.id) client.setQueryData(taskQuery(answer.task.id).queryKey, answer.task);
      onAnswer(answer);
    },
  });
}
