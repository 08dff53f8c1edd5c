//! Large content: which parts of an answer are too large to be written into it, and how one is found again.
//!
//! Such a part keeps everything but its bytes: in their place stands a link. The bytes lie where they were, in the
//! task, and are told by their SHA-256.

use sha2::{Digest, Sha256};
use weft_proto::a2a::part::Content;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Artifact, Message, Part, StreamResponse, Task};

/// Puts a link in the place of every file in a task that has more than `bytes_max` bytes. `link` makes the link from
/// the task's id and the digest of the bytes, in hexadecimal.
pub fn outline_task(task: &mut Task, bytes_max: usize, link: &dyn Fn(&str, &str) -> String) {
    let Task { id, artifacts, history, status, .. } = task;
    let parts = artifacts.iter_mut().flat_map(|artifact| &mut artifact.parts);
    let parts = parts.chain(history.iter_mut().flat_map(|message| &mut message.parts));
    let said = status.iter_mut().flat_map(|status| &mut status.message);
    for part in parts.chain(said.flat_map(|message| &mut message.parts)) {
        outline(part, id, bytes_max, link);
    }
}

/// The same for one event of a task's stream.
pub fn outline_event(event: &mut StreamResponse, bytes_max: usize, link: &dyn Fn(&str, &str) -> String) {
    match &mut event.payload {
        Some(Payload::Task(task)) => outline_task(task, bytes_max, link),
        Some(Payload::ArtifactUpdate(update)) => {
            for part in update.artifact.iter_mut().flat_map(|artifact| &mut artifact.parts) {
                outline(part, &update.task_id, bytes_max, link);
            }
        }
        Some(Payload::StatusUpdate(update)) => {
            let said = update.status.iter_mut().flat_map(|status| &mut status.message);
            for part in said.flat_map(|message| &mut message.parts) {
                outline(part, &update.task_id, bytes_max, link);
            }
        }
        // It belongs to no task in which it could be found again.
        Some(Payload::Message(_)) | None => {}
    }
}

/// The file of a task whose bytes have this digest.
#[must_use]
pub fn find(task: Task, digest: &str) -> Option<Part> {
    let of_artifacts = task.artifacts.into_iter().flat_map(|Artifact { parts, .. }| parts);
    let of_history = task.history.into_iter().flat_map(|Message { parts, .. }| parts);
    let said = task.status.and_then(|status| status.message).into_iter().flat_map(|message| message.parts);
    of_artifacts
        .chain(of_history)
        .chain(said)
        .find(|part| matches!(&part.content, Some(Content::Raw(bytes)) if digest_of(bytes) == digest))
}

fn outline(part: &mut Part, task_id: &str, bytes_max: usize, link: &dyn Fn(&str, &str) -> String) {
    if let Some(Content::Raw(bytes)) = &part.content
        && bytes.len() > bytes_max
    {
        part.content = Some(Content::Url(link(task_id, &digest_of(bytes))));
    }
}

fn digest_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use weft_proto::a2a::{TaskArtifactUpdateEvent, TaskStatus};

    use super::*;

    fn raw(bytes: &[u8]) -> Part {
        Part {
            content: Some(Content::Raw(bytes.to_vec())),
            filename: "f.bin".into(),
            media_type: "application/x-f".into(),
            ..Part::default()
        }
    }

    fn message(bytes: &[u8]) -> Message {
        Message { parts: vec![raw(bytes)], ..Message::default() }
    }

    fn task() -> Task {
        Task {
            id: "t1".into(),
            artifacts: vec![Artifact { parts: vec![raw(b"12345"), raw(b"1234")], ..Artifact::default() }],
            history: vec![message(b"abcde")],
            status: Some(TaskStatus { message: Some(message(b"fghij")), ..TaskStatus::default() }),
            ..Task::default()
        }
    }

    fn link(task: &str, digest: &str) -> String {
        format!("{task}/{digest}")
    }

    fn url(part: &Part) -> &str {
        match &part.content {
            Some(Content::Url(url)) => url,
            _ => "",
        }
    }

    #[test]
    fn what_is_over_the_limit_becomes_a_link_under_which_it_is_found_again() {
        let mut outlined = task();
        outline_task(&mut outlined, 4, &link);
        let parts = [
            (&outlined.artifacts[0].parts[0], Some(&b"12345"[..])),
            (&outlined.artifacts[0].parts[1], None),
            (&outlined.history[0].parts[0], Some(b"abcde")),
            (&outlined.status.as_ref().unwrap().message.as_ref().unwrap().parts[0], Some(b"fghij")),
        ];
        for (part, bytes) in parts {
            let Some(bytes) = bytes else {
                assert_eq!(part, &raw(b"1234"));
                continue;
            };
            let digest = url(part).strip_prefix("t1/").unwrap();
            assert_eq!((part.filename.as_str(), part.media_type.as_str()), ("f.bin", "application/x-f"));
            assert_eq!(find(task(), digest), Some(raw(bytes)));
        }
        assert_eq!(find(task(), "00"), None);
    }

    #[test]
    fn an_event_is_outlined_like_the_task_it_belongs_to() {
        let update = TaskArtifactUpdateEvent {
            task_id: "t1".into(),
            artifact: Some(Artifact { parts: vec![raw(b"12345")], ..Artifact::default() }),
            ..TaskArtifactUpdateEvent::default()
        };
        let mut event = StreamResponse { payload: Some(Payload::ArtifactUpdate(update)) };
        outline_event(&mut event, 4, &link);
        let Some(Payload::ArtifactUpdate(update)) = event.payload else { panic!() };
        let mut whole = task();
        outline_task(&mut whole, 4, &link);
        assert_eq!(update.artifact.unwrap().parts[0], whole.artifacts[0].parts[0]);
    }
}
