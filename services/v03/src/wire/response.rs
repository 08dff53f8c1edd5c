//! Tasks, events and answers.

use weft_proto::a2a as v1;
use weft_proto::a2a_v03 as v03;
use weft_proto::{a2a, a2a_v03};

use super::{Downgrade, Upgrade, down, up};
use crate::state;

impl Upgrade for v03::Task {
    type V1 = v1::Task;

    fn upgrade(self) -> v1::Task {
        v1::Task {
            id: self.id,
            context_id: self.context_id,
            status: self.status.map(Upgrade::upgrade),
            artifacts: up(self.artifacts),
            history: up(self.history),
            metadata: self.metadata,
        }
    }
}

impl Downgrade for v1::Task {
    type V03 = v03::Task;

    fn downgrade(self) -> v03::Task {
        v03::Task {
            id: self.id,
            context_id: self.context_id,
            status: self.status.map(Downgrade::downgrade),
            artifacts: down(self.artifacts),
            history: down(self.history),
            metadata: self.metadata,
        }
    }
}

impl Upgrade for v03::TaskStatus {
    type V1 = v1::TaskStatus;

    fn upgrade(self) -> v1::TaskStatus {
        // The numbers of the states are the same.
        v1::TaskStatus {
            state: self.state,
            message: self.update.map(Upgrade::upgrade),
            timestamp: self.timestamp,
        }
    }
}

impl Downgrade for v1::TaskStatus {
    type V03 = v03::TaskStatus;

    fn downgrade(self) -> v03::TaskStatus {
        v03::TaskStatus {
            state: self.state,
            update: self.message.map(Downgrade::downgrade),
            timestamp: self.timestamp,
        }
    }
}

impl Upgrade for v03::TaskStatusUpdateEvent {
    type V1 = v1::TaskStatusUpdateEvent;

    fn upgrade(self) -> v1::TaskStatusUpdateEvent {
        v1::TaskStatusUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            status: self.status.map(Upgrade::upgrade),
            metadata: self.metadata,
        }
    }
}

impl Downgrade for v1::TaskStatusUpdateEvent {
    type V03 = v03::TaskStatusUpdateEvent;

    fn downgrade(self) -> v03::TaskStatusUpdateEvent {
        v03::TaskStatusUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            r#final: self.status.as_ref().is_some_and(|status| state::is_final(status.state)),
            status: self.status.map(Downgrade::downgrade),
            metadata: self.metadata,
        }
    }
}

impl Upgrade for v03::TaskArtifactUpdateEvent {
    type V1 = v1::TaskArtifactUpdateEvent;

    fn upgrade(self) -> v1::TaskArtifactUpdateEvent {
        v1::TaskArtifactUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            artifact: self.artifact.map(Upgrade::upgrade),
            append: self.append,
            last_chunk: self.last_chunk,
            metadata: self.metadata,
        }
    }
}

impl Downgrade for v1::TaskArtifactUpdateEvent {
    type V03 = v03::TaskArtifactUpdateEvent;

    fn downgrade(self) -> v03::TaskArtifactUpdateEvent {
        v03::TaskArtifactUpdateEvent {
            task_id: self.task_id,
            context_id: self.context_id,
            artifact: self.artifact.map(Downgrade::downgrade),
            append: self.append,
            last_chunk: self.last_chunk,
            metadata: self.metadata,
        }
    }
}

impl Upgrade for v03::SendMessageResponse {
    type V1 = v1::SendMessageResponse;

    fn upgrade(self) -> v1::SendMessageResponse {
        use a2a::send_message_response::Payload;
        use a2a_v03::send_message_response::Payload as Old;
        let payload = self.payload.map(|payload| match payload {
            Old::Task(task) => Payload::Task(task.upgrade()),
            Old::Msg(message) => Payload::Message(message.upgrade()),
        });
        v1::SendMessageResponse { payload }
    }
}

impl Downgrade for v1::SendMessageResponse {
    type V03 = v03::SendMessageResponse;

    fn downgrade(self) -> v03::SendMessageResponse {
        use a2a::send_message_response::Payload;
        use a2a_v03::send_message_response::Payload as Old;
        let payload = self.payload.map(|payload| match payload {
            Payload::Task(task) => Old::Task(task.downgrade()),
            Payload::Message(message) => Old::Msg(message.downgrade()),
        });
        v03::SendMessageResponse { payload }
    }
}

impl Upgrade for v03::StreamResponse {
    type V1 = v1::StreamResponse;

    fn upgrade(self) -> v1::StreamResponse {
        use a2a::stream_response::Payload;
        use a2a_v03::stream_response::Payload as Old;
        let payload = self.payload.map(|payload| match payload {
            Old::Task(task) => Payload::Task(task.upgrade()),
            Old::Msg(message) => Payload::Message(message.upgrade()),
            Old::StatusUpdate(event) => Payload::StatusUpdate(event.upgrade()),
            Old::ArtifactUpdate(event) => Payload::ArtifactUpdate(event.upgrade()),
        });
        v1::StreamResponse { payload }
    }
}

impl Downgrade for v1::StreamResponse {
    type V03 = v03::StreamResponse;

    fn downgrade(self) -> v03::StreamResponse {
        use a2a::stream_response::Payload;
        use a2a_v03::stream_response::Payload as Old;
        let payload = self.payload.map(|payload| match payload {
            Payload::Task(task) => Old::Task(task.downgrade()),
            Payload::Message(message) => Old::Msg(message.downgrade()),
            Payload::StatusUpdate(event) => Old::StatusUpdate(event.downgrade()),
            Payload::ArtifactUpdate(event) => Old::ArtifactUpdate(event.downgrade()),
        });
        v03::StreamResponse { payload }
    }
}
