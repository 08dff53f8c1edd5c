//! Which role a span belongs to. In one process all roles share one tracer, yet each is a service of its own to whoever
//! looks at a trace.

use opentelemetry_sdk::trace::SpanData;

/// `rpc.service` of a served call → the role that serves it.
const BY_RPC: [(&str, &str); 6] = [
    ("weft.v1.Catalog", "catalog"),
    ("weft.v1.ExecutorBridge", "executor-bridge"),
    ("weft.v1.Journal", "journal"),
    ("weft.v1.Negotiator", "negotiator"),
    ("weft.v1.Signer", "signer"),
    ("weft.v1.Tasks", "tasks"),
];

/// Tracing target, or a crate's path → the role whose code it is.
const BY_TARGET: [(&str, &str); 8] = [
    ("weft::bridge", "executor-bridge"),
    ("weft::edge", "edge"),
    ("weft::node", "node"),
    ("weft::tasks", "tasks"),
    ("weft_catalog", "catalog"),
    ("weft_edge", "edge"),
    ("weft_node", "node"),
    ("weft_tasks", "tasks"),
];

/// The role a span belongs to, or `otherwise`.
pub(super) fn of<'a>(span: &SpanData, otherwise: &'a str) -> &'a str {
    let text = |key: &str| {
        let found = span.attributes.iter().find(|attribute| attribute.key.as_str() == key);
        found.map(|attribute| attribute.value.as_str())
    };
    if let Some(rpc) = text("rpc.service")
        && let Some((_, role)) = BY_RPC.iter().find(|(service, _)| *service == rpc)
    {
        return role;
    }
    let Some(target) = text("target") else { return otherwise };
    let role = BY_TARGET.iter().find(|(prefix, _)| target.starts_with(prefix));
    role.map_or(otherwise, |(_, role)| role)
}
