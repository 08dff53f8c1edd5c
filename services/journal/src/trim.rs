//! What of a span is kept. A span may come from anybody who may send to the journal: every text and list is bounded.

use std::sync::Arc;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use prost::Message;

use crate::store::TraceId;

/// Attributes of one span that are kept.
const ATTRIBUTES_MAX: usize = 64;
/// Longest name of a span, a service or an attribute, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Longest text of an attribute or a status, in bytes.
const TEXT_BYTES_MAX: usize = 1_024;
/// What a kept span takes beside its encoded form, and each attribute.
const OVERHEAD_BYTES: (usize, usize) = (320, 96);

/// One span as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) trace: TraceId,
    pub(crate) service: Arc<str>,
    pub(crate) span: Span,
    /// Estimated memory.
    pub(crate) bytes: usize,
}

/// The spans of one sender; `None` for one whose ids are not valid.
pub(crate) fn spans(sent: ResourceSpans) -> impl Iterator<Item = Option<Kept>> {
    let attributes = sent.resource.as_ref().map_or(&[][..], |resource| &resource.attributes);
    let named = attributes.iter().find(|attribute| attribute.key == "service.name");
    let service: Arc<str> = match named.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(name)) => cut(name, NAME_BYTES_MAX).into(),
        _ => "unknown".into(),
    };
    let spans = sent.scope_spans.into_iter().flat_map(|scope| scope.spans);
    spans.map(move |span| keep(span, service.clone()))
}

fn keep(mut span: Span, service: Arc<str>) -> Option<Kept> {
    let trace = TraceId::from_bytes(&span.trace_id)?;
    if span.span_id.len() != 8 || !matches!(span.parent_span_id.len(), 0 | 8) {
        return None;
    }
    // The console shows neither; both can be long.
    span.events = Vec::new();
    span.links = Vec::new();
    span.trace_state = String::new();
    shorten(&mut span.name, NAME_BYTES_MAX);
    if let Some(status) = &mut span.status {
        shorten(&mut status.message, TEXT_BYTES_MAX);
    }
    span.attributes.truncate(ATTRIBUTES_MAX);
    span.attributes.iter_mut().for_each(trim_attribute);
    let bytes = span.encoded_len() + OVERHEAD_BYTES.0 + span.attributes.len() * OVERHEAD_BYTES.1;
    Some(Kept { trace, service, span, bytes })
}

fn trim_attribute(attribute: &mut KeyValue) {
    shorten(&mut attribute.key, NAME_BYTES_MAX);
    match attribute.value.as_mut().and_then(|value| value.value.as_mut()) {
        Some(Value::StringValue(text)) => shorten(text, TEXT_BYTES_MAX),
        None | Some(Value::BoolValue(_) | Value::IntValue(_) | Value::DoubleValue(_)) => {}
        // Lists, maps and bytes are not shown: their kind is enough.
        Some(other) => {
            let kind = match other {
                Value::ArrayValue(list) => format!("list of {}", list.values.len()),
                Value::KvlistValue(map) => format!("map of {}", map.values.len()),
                Value::BytesValue(bytes) => format!("{} bytes", bytes.len()),
                _ => "value".to_owned(),
            };
            attribute.value = Some(AnyValue { value: Some(Value::StringValue(kind)) });
        }
    }
}

fn shorten(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        *text = cut(text, bytes_max).to_owned();
    }
}

fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
