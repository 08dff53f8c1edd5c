//! A habit of the official Python SDK of v0.3: over gRPC and HTTP it puts the base64 text of a file where the schema
//! has the bytes, and expects the same. Where such a peer is known, these functions stand between its messages and
//! ours; for any other they would change what it sent.

use base64::Engine;
use weft_proto::a2a::part::Content;
use weft_proto::a2a::{
    Artifact, Message, Part, SendMessageRequest, SendMessageResponse, StreamResponse, Task, TaskStatus,
    send_message_response, stream_response,
};

use crate::json::BASE64;

/// Something with parts in it.
pub trait Parts {
    /// Shows every part.
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part));
}

/// Turns base64 text in the place of a file's bytes into the bytes; what is no base64 is left.
pub fn from_text<T: Parts>(message: &mut T) {
    message.each_part(&mut |part| {
        if let Some(Content::Raw(bytes)) = &mut part.content
            && let Ok(decoded) = BASE64.decode(&*bytes)
        {
            *bytes = decoded;
        }
    });
}

/// Puts base64 text in the place of every file's bytes.
pub fn to_text<T: Parts>(message: &mut T) {
    message.each_part(&mut |part| {
        if let Some(Content::Raw(bytes)) = &mut part.content {
            *bytes = BASE64.encode(&*bytes).into_bytes();
        }
    });
}

impl<T: Parts> Parts for Option<T> {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.iter_mut().for_each(|inner| inner.each_part(show));
    }
}

impl<T: Parts> Parts for Vec<T> {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.iter_mut().for_each(|inner| inner.each_part(show));
    }
}

impl Parts for Part {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        show(self);
    }
}

impl Parts for Message {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.parts.each_part(show);
    }
}

impl Parts for Artifact {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.parts.each_part(show);
    }
}

impl Parts for TaskStatus {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.message.each_part(show);
    }
}

impl Parts for Task {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.status.each_part(show);
        self.artifacts.each_part(show);
        self.history.each_part(show);
    }
}

impl Parts for SendMessageRequest {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        self.message.each_part(show);
    }
}

impl Parts for SendMessageResponse {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        match &mut self.payload {
            Some(send_message_response::Payload::Task(task)) => task.each_part(show),
            Some(send_message_response::Payload::Message(message)) => message.each_part(show),
            None => {}
        }
    }
}

impl Parts for StreamResponse {
    fn each_part(&mut self, show: &mut dyn FnMut(&mut Part)) {
        match &mut self.payload {
            Some(stream_response::Payload::Task(task)) => task.each_part(show),
            Some(stream_response::Payload::Message(message)) => message.each_part(show),
            Some(stream_response::Payload::StatusUpdate(event)) => event.status.each_part(show),
            Some(stream_response::Payload::ArtifactUpdate(event)) => event.artifact.each_part(show),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_every_place_are_turned_and_turned_back() {
        let file = |bytes: &[u8]| Part { content: Some(Content::Raw(bytes.to_vec())), ..Part::default() };
        let message = |part: Part| Message { parts: vec![part], ..Message::default() };
        let task = |part: Part| Task {
            status: Some(TaskStatus { message: Some(message(part.clone())), ..TaskStatus::default() }),
            artifacts: vec![Artifact { parts: vec![part.clone()], ..Artifact::default() }],
            history: vec![message(part)],
            ..Task::default()
        };
        let mut turned = task(file(b"\xff\xfe"));
        to_text(&mut turned);
        assert_eq!(turned, task(file(b"//4=")));
        from_text(&mut turned);
        assert_eq!(turned, task(file(b"\xff\xfe")));
        from_text(&mut turned);
        assert_eq!(turned, task(file(b"\xff\xfe")), "what is no base64 stays");
    }
}
