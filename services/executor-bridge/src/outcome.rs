//! What an answer of a node means for its task: from values to steps, no I/O.

use weft_core::media;
use weft_proto::a2a::{Artifact, Message, Part, Role, TaskState, TaskStatus, part};
use weft_proto::weft::{ArtifactChunk, InvokeResult, Progress, WorkItem, progress};
use weft_proto::wkt::{Kind, Struct, Value};

use crate::directory::Target;
use crate::failure::Failure;
use crate::metrics::Ran;

/// Key of the mesh's own metadata on messages.
const METADATA_KEY: &str = "weft";
/// Longest text part made for an artifact, in characters.
const TEXT_CHARS_MAX: usize = 280;
const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// The turn of a task that is being answered; everything said in it is derived from this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    pub(crate) lease: u64,
    /// Set once per turn: the same for every attempt.
    pub(crate) key: String,
    pub(crate) node: String,
    pub(crate) tool: String,
    /// Media types the caller can take; empty: any.
    pub(crate) accepted: Vec<String>,
    /// Media types the capability gives; empty: any.
    pub(crate) offered: Vec<String>,
}

/// What the node has said by steps before its result came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Any step at all.
    pub(crate) any: bool,
    /// A step that ends the run: terminal, or one that waits for the caller.
    pub(crate) ended: bool,
    /// The end was FAILED or REJECTED.
    pub(crate) failed: bool,
}

impl Said {
    pub(crate) fn take(&mut self, step: &Progress) {
        self.any = true;
        self.ended |= ends(step);
        self.failed |= matches!(
            &step.step,
            Some(progress::Step::Status(status))
                if matches!(status.state(), TaskState::Failed | TaskState::Rejected)
        );
    }

    /// How a run ended that ended by a step.
    pub(crate) fn ran(self) -> Ran {
        if self.failed { Ran::Error } else { Ran::Ok }
    }
}

impl Turn {
    pub(crate) fn of(item: &WorkItem) -> Turn {
        Turn {
            task_id: item.task_id.clone(),
            context_id: item.context_id.clone(),
            lease: item.lease,
            key: item.message.as_ref().map_or_else(String::new, |message| message.message_id.clone()),
            accepted: item.accepted_output_modes.clone(),
            ..Turn::default()
        }
    }

    /// Says where the turn is answered.
    pub(crate) fn aim(&mut self, target: &Target) {
        self.node.clone_from(&target.place.node);
        self.tool.clone_from(&target.tool);
        self.offered.clone_from(&target.output_modes);
    }
}

/// True for a step after which the store takes no more from this run.
pub(crate) fn ends(step: &Progress) -> bool {
    let status = match &step.step {
        Some(progress::Step::Status(status)) => status,
        other => return matches!(other, Some(progress::Step::Message(_))),
    };
    matches!(
        status.state(),
        TaskState::Completed
            | TaskState::Failed
            | TaskState::Canceled
            | TaskState::Rejected
            | TaskState::InputRequired
            | TaskState::AuthRequired
    )
}

/// True for a step that says no more than that the work goes on.
pub(crate) fn is_working(step: &Progress) -> bool {
    matches!(&step.step, Some(progress::Step::Status(status)) if status.state() == TaskState::Working)
}

/// True for a step that answers with a message instead of a task.
pub(crate) fn is_message(step: &Progress) -> bool {
    matches!(step.step, Some(progress::Step::Message(_)))
}

/// A message that comes when the task has been spoken of already: what the task ends with.
pub(crate) fn within_the_task(step: Progress) -> Progress {
    match step.step {
        Some(progress::Step::Message(message)) => {
            Progress { metadata: step.metadata, ..status(TaskState::Completed, Some(message)) }
        }
        _ => step,
    }
}

/// The first step of every run.
pub(crate) fn working() -> Progress {
    status(TaskState::Working, None)
}

/// The node cannot be reached now; the work goes on.
pub(crate) fn waiting(turn: &Turn, failure: &Failure) -> Progress {
    let text = format!("{}; trying again", failure.text(&turn.node, &turn.tool));
    status(TaskState::Working, Some(message(turn, "wait", vec![text_part(text)], failure.outcome())))
}

/// True for a good result that holds nothing, when no step said anything either.
pub(crate) fn is_empty(result: &InvokeResult, said_any: bool) -> bool {
    result.empty || (!said_any && result.result.as_ref().is_none_or(Value::is_null))
}

/// The steps that end a run whose node has given its result.
pub(crate) fn settled(turn: &Turn, result: InvokeResult, said: Said) -> Vec<Progress> {
    if said.ended {
        return Vec::new();
    }
    if !result.ok {
        return vec![failed(turn, &Failure::of_result(&result))];
    }
    let is_empty = is_empty(&result, said.any);
    let mut steps = Vec::with_capacity(2);
    if let Some(value) = result.result.filter(|value| !value.is_null()) {
        steps.push(artifact(turn, value));
    }
    steps.push(if is_empty { empty(turn) } else { status(TaskState::Completed, None) });
    steps
}

/// The step that ends a run that came to nothing.
pub(crate) fn failed(turn: &Turn, failure: &Failure) -> Progress {
    let facts = object([
        ("code", Value::from(failure.code())),
        ("node", Value::from(turn.node.as_str())),
        ("tool", Value::from(turn.tool.as_str())),
    ]);
    let parts = vec![
        text_part(failure.text(&turn.node, &turn.tool)),
        Part { media_type: JSON.into(), ..data_part(facts) },
    ];
    status(TaskState::Failed, Some(message(turn, "end", parts, failure.outcome())))
}

fn empty(turn: &Turn) -> Progress {
    let text = format!("the answer of {} on {} is empty: there was nothing to report", turn.tool, turn.node);
    status(TaskState::Completed, Some(message(turn, "end", vec![text_part(text)], "empty")))
}

fn artifact(turn: &Turn, value: Value) -> Progress {
    let gives = |mode: &str| {
        let in_list = |list: &[String]| list.is_empty() || list.iter().any(|m| media::matches(m, mode));
        in_list(&turn.accepted) && in_list(&turn.offered)
    };
    // When neither fits, both are given: an answer in the wrong form says more than none.
    let neither = !gives(JSON) && !gives(TEXT);
    let mut parts = Vec::with_capacity(2);
    let summary = (neither || gives(TEXT)).then(|| summary(&turn.tool, &value));
    if neither || gives(JSON) {
        parts.push(Part { media_type: JSON.into(), ..data_part(value) });
    }
    parts.extend(summary.map(text_part));
    let artifact =
        Artifact { artifact_id: artifact_id(turn), name: turn.tool.clone(), parts, ..Artifact::default() };
    let chunk = ArtifactChunk { artifact: Some(artifact), append: false, last_chunk: true };
    Progress { step: Some(progress::Step::Artifact(chunk)), metadata: None }
}

/// The same for every attempt of a turn, so that a second attempt replaces what a first one left behind.
fn artifact_id(turn: &Turn) -> String {
    if turn.key.is_empty() { turn.tool.clone() } else { format!("{}-{}", turn.tool, turn.key) }
}

/// One line for people: what the tool itself calls its summary, else how much there is.
fn summary(tool: &str, value: &Value) -> String {
    let text = match &value.kind {
        Some(Kind::String(text)) => text.clone(),
        Some(Kind::List(list)) => counted(tool, list.values.len()),
        Some(Kind::Struct(fields)) => of_object(tool, fields),
        Some(Kind::Number(number)) => format!("{tool}: {number}"),
        Some(Kind::Bool(flag)) => format!("{tool}: {flag}"),
        Some(Kind::Null(_)) | None => format!("{tool}: nothing"),
    };
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn of_object(tool: &str, object: &Struct) -> String {
    for name in ["summary", "text", "message"] {
        if let Some(text) = object.fields.get(name).and_then(Value::as_str) {
            return text.to_owned();
        }
    }
    let rows = object.fields.values().find_map(|value| match &value.kind {
        Some(Kind::List(list)) => Some(list.values.len()),
        _ => None,
    });
    rows.map_or_else(|| format!("{tool}: {} fields", object.fields.len()), |rows| counted(tool, rows))
}

fn counted(tool: &str, rows: usize) -> String {
    if rows == 1 { format!("{tool}: 1 row") } else { format!("{tool}: {rows} rows") }
}

fn status(state: TaskState, message: Option<Message>) -> Progress {
    let status = TaskStatus { state: state.into(), message, timestamp: None };
    Progress { step: Some(progress::Step::Status(status)), metadata: None }
}

/// Ids are derived, not drawn: an attempt that is told again says the same.
fn message(turn: &Turn, which: &str, parts: Vec<Part>, outcome: &str) -> Message {
    let weft = object([("outcome", Value::from(outcome))]);
    Message {
        message_id: format!("{}.{}.{which}", turn.task_id, turn.lease),
        context_id: turn.context_id.clone(),
        task_id: turn.task_id.clone(),
        role: Role::Agent.into(),
        parts,
        metadata: Some([(METADATA_KEY, weft)].into_iter().collect()),
        ..Message::default()
    }
}

fn text_part(text: String) -> Part {
    Part { content: Some(part::Content::Text(text)), media_type: TEXT.into(), ..Part::default() }
}

fn data_part(value: Value) -> Part {
    Part { content: Some(part::Content::Data(value)), ..Part::default() }
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().collect::<Struct>().into()
}

#[cfg(test)]
mod tests;
