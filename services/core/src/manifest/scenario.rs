//! `[[scenario.rule]]`: how a mock agent answers. The first rule whose every condition holds is played, step by step.

use weft_proto::{a2a, wkt};

use super::reader::Reader;

mod step;

/// Most rules of one manifest.
const RULES_MAX: usize = 256;
/// Most steps of one rule.
const STEPS_MAX: usize = 256;

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Unique within the manifest; for people.
    pub name: String,
    /// What must hold of the message; without a condition the rule always holds.
    pub when: When,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// Conditions on a message. Texts are compared without regard to ASCII case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct When {
    /// The message id begins so, or the text of the first part does; compared exactly. For callers that have a hand
    /// in only one of the two.
    pub prefix: Option<String>,
    /// The message id begins so; compared exactly.
    pub message_id_prefix: Option<String>,
    /// The text parts, joined by line breaks and trimmed, are this.
    pub text_equals: Option<String>,
    /// The text begins so.
    pub text_prefix: Option<String>,
    /// The text contains this.
    pub text_contains: Option<String>,
    /// A data part is an object that has this field.
    pub data_field: Option<String>,
    /// The value of `data_field`; unset: any.
    pub data_equals: Option<wkt::Value>,
    /// The message is this turn of its task, from 1, as far as the node remembers.
    pub turn: Option<u32>,
    /// It is this try of the same work, from 1.
    pub attempt: Option<u32>,
}

/// One step, done `repeat` times, each after `delay_ms`.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Wait before it, in milliseconds.
    pub delay_ms: u64,
    /// How often.
    pub repeat: u32,
    /// What is done.
    pub action: Action,
}

impl Step {
    /// Whether it answers with a message instead of a task.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.action, Action::Message(_))
    }
}

/// What a step does. `{text}` in a text stands for the message's text, `{n}` for the repetition, from 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Nothing but the delay.
    Wait,
    /// Says a status; a terminal or interrupted one ends the play.
    Status {
        /// Which.
        state: a2a::TaskState,
        /// Its message; empty: none.
        parts: Vec<a2a::Part>,
    },
    /// Gives an artifact or a chunk of one.
    Artifact(Artifact),
    /// Ends the play with a message to the caller instead of a task.
    Message(
        /// What it holds; never empty.
        Vec<a2a::Part>,
    ),
    /// Ends the play with this as the tool's result.
    Answer(wkt::Value),
    /// Ends the play as a failed call.
    Fail {
        /// Stable reason.
        code: String,
        /// For people.
        error: String,
    },
    /// Ends without any result, as a node does that breaks.
    Drop,
}

/// Template of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Its id; unset: `artifact-1`, `artifact-2`, … in the order of the play, and for one that appends, that of the
    /// artifact before it.
    pub id: Option<String>,
    /// Its name; may be empty.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// What it holds.
    pub parts: Parts,
    /// True: the repetitions are chunks of one artifact, appended to one another.
    pub chunked: bool,
    /// True: its parts are added to those that its artifact has already.
    pub append: bool,
    /// True: further chunks of its artifact follow.
    pub more: bool,
}

/// What an artifact holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Parts {
    /// The message's own parts.
    Echo,
    /// These.
    Listed(Vec<a2a::Part>),
}

/// Reads `[scenario]`.
pub(super) fn rules(root: &Reader<'_>) -> Vec<Rule> {
    let Some(section) = root.table("scenario") else { return Vec::new() };
    let mut rules: Vec<Rule> = Vec::new();
    for inner in section.tables("rule", RULES_MAX) {
        let rule = rule(inner);
        if rules.iter().any(|earlier| earlier.name == rule.name) {
            section.wrong("rule", format!("\"{}\" twice", rule.name), "give each rule a name of its own");
        }
        if let Some(earlier) = rules.iter().find(|earlier| earlier.when == When::default()) {
            let remedy = format!(
                "never played: rule \"{}\" before it has no condition; move that one last",
                earlier.name
            );
            section.wrong("rule", format!("\"{}\"", rule.name), remedy);
        }
        rules.push(rule);
    }
    if rules.is_empty() {
        section.wrong(
            "rule",
            if section.has("rule") { "empty" } else { "" },
            "declare at least one [[scenario.rule]]",
        );
    }
    section.finish();
    rules
}

fn rule(section: Reader<'_>) -> Rule {
    let name = section.required("name", 64, "a name for the rule");
    let when = section.table("when").map(when).unwrap_or_default();
    let mut steps: Vec<Step> = Vec::new();
    for inner in section.tables("step", STEPS_MAX) {
        if steps.last().is_some_and(ends) {
            section.wrong(
                "step",
                "after the end",
                "never played: the step before it ends the play; remove it",
            );
            break;
        }
        steps.extend(step::read(inner));
    }
    if !section.has("step") {
        section.wrong("step", "", "declare at least one [[scenario.rule.step]]");
    }
    section.finish();
    Rule { name, when, steps }
}

fn when(section: Reader<'_>) -> When {
    let text = |key| Some(section.text(key, 200)).filter(|t| !t.is_empty());
    let count =
        |key| section.has(key).then(|| section.number(key, 1, 1..=1_000)).and_then(|n| u32::try_from(n).ok());
    let when = When {
        prefix: text("prefix"),
        message_id_prefix: text("message_id_prefix"),
        text_equals: text("text_equals"),
        text_prefix: text("text_prefix"),
        text_contains: text("text_contains"),
        data_field: text("data_field"),
        data_equals: section
            .value("data_equals")
            .and_then(|value| step::json(&section, "data_equals", value)),
        turn: count("turn"),
        attempt: count("attempt"),
    };
    if when.data_equals.is_some() && when.data_field.is_none() {
        section.wrong("data_field", "", "name the field that `data_equals` compares");
    }
    section.finish();
    when
}

/// True for a step after which nothing is played.
fn ends(step: &Step) -> bool {
    match &step.action {
        Action::Message(_) | Action::Answer(_) | Action::Fail { .. } | Action::Drop => true,
        Action::Status { state, .. } => *state != a2a::TaskState::Working,
        Action::Wait | Action::Artifact(_) => false,
    }
}
