//! A mock agent: which rule a message meets, and what is said then. Pure; `run` adds the waiting.

use std::sync::Arc;

use weft_core::manifest::Rule;
use weft_core::manifest::scenario::When;
use weft_proto::a2a::part::Content;
use weft_proto::a2a::{Message, Part};
use weft_proto::weft::InvokeRequest;
use weft_proto::wkt::Kind;

mod play;
mod run;
mod turns;

pub(crate) use play::Play;
pub(crate) use run::play;
pub(crate) use turns::Turns;

/// What a rule decides by.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Incoming {
    pub(crate) message_id: String,
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    /// Text parts joined by line breaks, trimmed.
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
    /// From 1.
    pub(crate) turn: u32,
    /// From 1.
    pub(crate) attempt: u32,
}

impl Incoming {
    /// The message of a call. A call without one is a message without parts.
    pub(crate) fn of(request: InvokeRequest, turn: u32) -> Incoming {
        let Message { message_id, parts, .. } = request.message.unwrap_or_default();
        let texts = parts.iter().filter_map(|part| match &part.content {
            Some(Content::Text(text)) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n").trim().to_owned();
        let InvokeRequest { task_id, context_id, attempt, .. } = request;
        Incoming { message_id, task_id, context_id, text, parts, turn, attempt: attempt.max(1) }
    }

    /// Whether the message id or the text of the first part begins so.
    fn begins(&self, prefix: &str) -> bool {
        let first = self.parts.first().and_then(|part| part.content.as_ref());
        self.message_id.starts_with(prefix)
            || matches!(first, Some(Content::Text(text)) if text.trim_start().starts_with(prefix))
    }
}

/// The first rule whose every condition holds.
pub(crate) fn choose<'r>(rules: &'r [Arc<Rule>], incoming: &Incoming) -> Option<&'r Arc<Rule>> {
    let text = incoming.text.to_ascii_lowercase();
    rules.iter().find(|rule| holds(&rule.when, incoming, &text))
}

fn holds(when: &When, incoming: &Incoming, text: &str) -> bool {
    let said = |wanted: &Option<String>, test: fn(&str, &str) -> bool| {
        wanted.as_ref().is_none_or(|wanted| test(text, &wanted.to_ascii_lowercase()))
    };
    when.prefix.as_ref().is_none_or(|prefix| incoming.begins(prefix))
        && when.message_id_prefix.as_ref().is_none_or(|prefix| incoming.message_id.starts_with(prefix))
        && said(&when.text_equals, |text, wanted| text == wanted)
        && said(&when.text_prefix, |text, wanted| text.starts_with(wanted))
        && said(&when.text_contains, |text, wanted| text.contains(wanted))
        && when.data_field.as_ref().is_none_or(|field| has_field(when, field, &incoming.parts))
        && when.turn.is_none_or(|turn| turn == incoming.turn)
        && when.attempt.is_none_or(|attempt| attempt == incoming.attempt)
}

fn has_field(when: &When, field: &str, parts: &[Part]) -> bool {
    parts.iter().any(|part| {
        let Some(Content::Data(data)) = &part.content else { return false };
        let Some(Kind::Struct(object)) = &data.kind else { return false };
        let found = object.fields.get(field);
        found.is_some() && when.data_equals.as_ref().is_none_or(|wanted| found == Some(wanted))
    })
}
