//! A kept trace as the console reads it: each span once, in the order they started.

use std::collections::HashSet;
use std::fmt::Write;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use weft_proto::weft::{Span, Trace};

use crate::trim::Kept;

/// The trace of these spans. A span that was sent twice is shown once.
pub(crate) fn trace(trace_id: String, kept: &[Kept]) -> Trace {
    let mut seen = HashSet::new();
    let mut spans: Vec<Span> =
        kept.iter().filter(|kept| seen.insert(kept.span.span_id.as_slice())).map(span).collect();
    spans.sort_by(|a, b| {
        let order = |span: &Span| (span.start_unix_nano, std::cmp::Reverse(span.end_unix_nano));
        order(a).cmp(&order(b)).then_with(|| a.span_id.cmp(&b.span_id))
    });
    Trace { trace_id, spans }
}

fn span(kept: &Kept) -> Span {
    let span = &kept.span;
    let (status, status_message) = match &span.status {
        Some(status) if status.code() == StatusCode::Ok => ("ok", String::new()),
        Some(status) if status.code() == StatusCode::Error => ("error", status.message.clone()),
        _ => ("", String::new()),
    };
    Span {
        span_id: hex(&span.span_id),
        parent_span_id: hex(&span.parent_span_id),
        service: kept.service.to_string(),
        name: span.name.clone(),
        start_unix_nano: span.start_time_unix_nano,
        end_unix_nano: span.end_time_unix_nano,
        attributes: span.attributes.iter().filter_map(attribute).collect(),
        status: status.to_owned(),
        status_message,
    }
}

fn attribute(attribute: &KeyValue) -> Option<(String, String)> {
    let AnyValue { value: Some(value) } = attribute.value.as_ref()? else { return None };
    let text = match value {
        Value::StringValue(text) => text.clone(),
        Value::BoolValue(flag) => flag.to_string(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        // Trimmed to a text when it came.
        _ => return None,
    };
    Some((attribute.key.clone(), text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
