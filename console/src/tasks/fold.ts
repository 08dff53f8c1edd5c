// How a task changes under the events of its stream. Pure: the same events give the same task.

import type { ArtifactJson, MessageJson, StreamResponseJson, TaskJson } from "../api/gen/lf/a2a/v1/a2a_pb";

/** The task after one more event. Events of other tasks, and events this console does not know, change nothing. */
export function fold(task: TaskJson | undefined, event: StreamResponseJson): TaskJson | undefined {
  if (event.task) return task && task.id !== event.task.id ? task : event.task;
  if (!task) return undefined;
  if (event.statusUpdate?.status && event.statusUpdate.taskId === task.id) {
    // A message that was the status is a turn of the conversation once another status takes its place.
    const history = withTurn(task.history, task.status?.message);
    return { ...task, ...(history && { history }), status: event.statusUpdate.status };
  }
  const update = event.artifactUpdate;
  if (update?.artifact && update.taskId === task.id) {
    return {
      ...task,
      artifacts: withArtifact(task.artifacts ?? [], update.artifact, update.append === true),
    };
  }
  return task;
}

/**
 * The task with the turns of `other`, a later reading of the same task: its stream does not carry what a user added.
 * Everything else stays, since events since that reading may be folded in already.
 */
export function withHistoryOf(task: TaskJson, other: TaskJson): TaskJson {
  const current = task.status?.message?.messageId;
  const history = (other.history ?? []).filter((message) => message.messageId !== current);
  return history.length < (task.history?.length ?? 0) ? task : { ...task, history };
}

function withTurn(history: MessageJson[] = [], message: MessageJson | undefined): MessageJson[] | undefined {
  if (!message || history.some((turn) => turn.messageId === message.messageId)) return undefined;
  return [...history, message];
}

function withArtifact(artifacts: ArtifactJson[], next: ArtifactJson, append: boolean): ArtifactJson[] {
  const at = artifacts.findIndex((artifact) => artifact.artifactId === next.artifactId);
  const before = artifacts[at];
  if (!before) return [...artifacts, next];
  const merged = append ? appended(before, next) : next;
  return artifacts.map((artifact, index) => (index === at ? merged : artifact));
}

/** A chunk adds parts; whatever else it says is taken over. */
function appended(before: ArtifactJson, chunk: ArtifactJson): ArtifactJson {
  return {
    ...before,
    ...(chunk.name && { name: chunk.name }),
    ...(chunk.description && { description: chunk.description }),
    ...(chunk.extensions && {
      extensions: [...new Set([...(before.extensions ?? []), ...chunk.extensions])],
    }),
    ...(chunk.metadata && { metadata: { ...before.metadata, ...chunk.metadata } }),
    parts: [...(before.parts ?? []), ...(chunk.parts ?? [])],
  };
}
