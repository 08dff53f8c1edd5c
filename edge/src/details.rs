//! What a fault says beside its message: `google.rpc` messages as ProtoJSON writes them inside an `Any`
//! (A2A v1.0 §9.5, §11.6).

use std::collections::BTreeMap;

use serde::Serialize;
use weft_core::Fault;

/// One detail.
#[derive(Serialize)]
#[serde(tag = "@type", rename_all_fields = "camelCase")]
pub(crate) enum Detail<'a> {
    #[serde(rename = "type.googleapis.com/google.rpc.ErrorInfo")]
    ErrorInfo {
        reason: &'static str,
        domain: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<&'a BTreeMap<String, String>>,
    },
    #[serde(rename = "type.googleapis.com/google.rpc.BadRequest")]
    BadRequest { field_violations: Vec<FieldViolation<'a>> },
    #[serde(rename = "type.googleapis.com/google.rpc.RetryInfo")]
    RetryInfo { retry_delay: String },
}

#[derive(Serialize)]
pub(crate) struct FieldViolation<'a> {
    field: &'a str,
    description: &'a str,
}

/// Everything a fault has to say.
pub(crate) fn of(fault: &Fault) -> Vec<Detail<'_>> {
    let row = fault.kind.row();
    let metadata = Some(&fault.metadata).filter(|m| !m.is_empty());
    let mut details = vec![Detail::ErrorInfo { reason: row.reason, domain: row.domain, metadata }];
    if !fault.violations.is_empty() {
        let field_violations = fault
            .violations
            .iter()
            .map(|v| FieldViolation { field: &v.field, description: &v.description })
            .collect();
        details.push(Detail::BadRequest { field_violations });
    }
    if let Some(ms) = fault.retry_after_ms {
        let retry_delay = format!("{}.{:03}s", ms / 1_000, ms % 1_000);
        details.push(Detail::RetryInfo { retry_delay });
    }
    details
}
