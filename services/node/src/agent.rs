//! A remote A2A agent behind a node: the message of a call goes to it, what it says comes back as steps.
//!
//! A message is sent once. What is about to be sent is written down first, and the remote task's id as soon as it is
//! known; a call that comes again with the same key goes on with that task.
//!
//! | module | holds |
//! |---|---|
//! | `connect` | from the manifest to an agent whose card is checked |
//! | `memory` | which turn is which remote task, on disk |
//! | `gates` | one at a time for each turn |
//! | `open` | a message sent, or its task taken up again |
//! | `lost` | what became of a message whose answer was lost |
//! | `cancel` | the remote task canceled with ours |
//! | `pursuit` | one call: events, over the times the agent is away |
//! | `told` | the agent's events as steps, each once |

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use weft_chassis::Env;
use weft_client::{Call, Client};
use weft_core::manifest::agent::Agent;
use weft_proto::a2a::{Message, Role};
use weft_proto::weft::InvokeRequest;
use weft_proto::wkt::{Kind, Value};

use crate::failure::Failure;

mod cancel;
mod connect;
mod gates;
mod lost;
mod memory;
mod open;
mod pursuit;
mod told;
mod trouble;

use gates::Gates;
use memory::Memory;
pub(crate) use pursuit::Pursuit;
pub(crate) use trouble::Trouble;

/// The key under which a mesh takes the name of a skill from a message.
const SKILL: &str = "skillId";
/// Pauses between tries of an agent that is away.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// A remote agent, as one manifest declares it.
pub(crate) struct Remote {
    spec: Agent,
    client: Client,
    memory: Arc<Memory>,
    gates: Arc<Gates>,
    env: Env,
}

/// What a node knows of its turns with remote agents. A clone is the same book.
#[derive(Clone)]
pub(crate) struct Book {
    memory: Arc<Memory>,
    gates: Arc<Gates>,
}

/// The message of a call, and what it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// The same for every attempt.
    key: String,
    task_id: String,
    context_id: String,
    message: Message,
    skill: Option<String>,
    /// How long the whole may take.
    within: Duration,
    /// Most bytes that are passed on.
    bytes_max: usize,
}

/// The pause before try `n`, from 0.
fn pause(n: u32) -> Duration {
    PAUSE.0.saturating_mul(1 << n.min(10)).min(PAUSE.1)
}

/// Derived from the key of a turn, so that every attempt says the same.
fn message_id(key: &str) -> String {
    format!("weft-{key}")
}

/// What goes with every request: the trace it belongs to.
fn call(within: Duration) -> Call {
    let mut call = Call { within: Some(within), ..Call::default() };
    weft_chassis::trace::inject(&mut call.headers);
    call
}

// === impl Book ===

impl Book {
    /// Keeps the latest `turns_max` turns in `folder`, which is made when needed.
    pub(crate) fn new(folder: PathBuf, turns_max: u64) -> Book {
        Book { memory: Arc::new(Memory::new(folder, turns_max)), gates: Arc::default() }
    }
}

// === impl Turn ===

impl Turn {
    /// # Errors
    /// When the call holds no message, or no key that a repeat would have too.
    pub(crate) fn of(
        request: InvokeRequest,
        skill: Option<String>,
        within: Duration,
        bytes_max: usize,
    ) -> Result<Turn, Failure> {
        let InvokeRequest { message, task_id, context_id, idempotency_key: key, .. } = request;
        let message = message.filter(|message| !message.parts.is_empty());
        match message {
            Some(message) if !key.is_empty() => {
                Ok(Turn { key, task_id, context_id, message, skill, within, bytes_max })
            }
            _ => Err(Failure::NoMessage),
        }
    }

    /// The message for the agent, as a part of this task and context of its own; empty: it begins one.
    fn message(&self, task_id: &str, context_id: &str) -> Message {
        let mut metadata = self.message.metadata.clone().unwrap_or_default();
        // The name of a skill is for this mesh; the agent's skills have other names.
        metadata.fields.remove(SKILL);
        if let Some(skill) = &self.skill {
            metadata.fields.insert(SKILL.to_owned(), Value { kind: Some(Kind::String(skill.clone())) });
        }
        Message {
            message_id: message_id(&self.key),
            task_id: task_id.to_owned(),
            context_id: context_id.to_owned(),
            role: Role::User.into(),
            metadata: Some(metadata).filter(|metadata| !metadata.fields.is_empty()),
            // Tasks of this mesh mean nothing to the agent.
            reference_task_ids: Vec::new(),
            ..self.message.clone()
        }
    }

    /// What goes with the requests of this turn.
    fn call(&self, within: Duration) -> Call {
        Call {
            idempotency_key: Some(self.key.clone()),
            extensions: self.message.extensions.clone(),
            ..call(within)
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_proto::a2a::Part;
    use weft_proto::a2a::part::Content;

    use super::*;

    fn request() -> InvokeRequest {
        let part = Part { content: Some(Content::Text("hello".into())), ..Part::default() };
        let skill = Value { kind: Some(Kind::String("near.skill".into())) };
        let message = Message {
            message_id: "m-1".into(),
            task_id: "t-1".into(),
            context_id: "c-1".into(),
            role: Role::User.into(),
            parts: vec![part],
            metadata: Some([(SKILL, skill)].into_iter().collect()),
            reference_task_ids: vec!["t-0".into()],
            ..Message::default()
        };
        InvokeRequest {
            message: Some(message),
            task_id: "t-1".into(),
            context_id: "c-1".into(),
            idempotency_key: "t-1:1".into(),
            ..InvokeRequest::default()
        }
    }

    fn turn(skill: Option<&str>) -> Turn {
        Turn::of(request(), skill.map(str::to_owned), Duration::from_secs(1), 1_000).unwrap()
    }

    #[test]
    fn what_is_sent_names_nothing_of_this_mesh() {
        let sent = turn(None).message("", "");
        assert_eq!((sent.task_id.as_str(), sent.context_id.as_str(), sent.metadata), ("", "", None));
        assert_eq!((sent.message_id.as_str(), sent.reference_task_ids.len()), ("weft-t-1:1", 0));
        assert_eq!(sent.parts, request().message.unwrap().parts);
        let next = turn(Some("far.skill")).message("far-task", "far-context");
        assert_eq!((next.task_id.as_str(), next.context_id.as_str()), ("far-task", "far-context"));
        let skill = next.metadata.unwrap().fields[SKILL].clone();
        assert_eq!(skill.kind, Some(Kind::String("far.skill".into())));
    }

    #[test]
    fn a_call_without_a_message_or_a_key_is_none_for_an_agent() {
        let turn = |request| Turn::of(request, None, Duration::from_secs(1), 1_000).err();
        assert_eq!(turn(InvokeRequest { message: None, ..request() }), Some(Failure::NoMessage));
        assert_eq!(
            turn(InvokeRequest { idempotency_key: String::new(), ..request() }),
            Some(Failure::NoMessage)
        );
    }

    #[test]
    fn pauses_grow_to_their_bound() {
        let millis: Vec<_> = [0, 1, 4, 5, 99].map(|n| pause(n).as_millis()).to_vec();
        assert_eq!(millis, [200, 400, 3_200, 5_000, 5_000]);
    }
}
