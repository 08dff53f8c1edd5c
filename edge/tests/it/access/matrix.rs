//! Every operation on every binding, with no credential, with a bad one, without the scope, and with a good one. The
//! operations are those of the schema, so that a new one is tested or fails.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};
use tonic::Status;
use weft_chassis::status;
use weft_core::scope::{READ, WRITE};

use super::{Guarded, closed, grpc, with};
use crate::bindings::cases;
use crate::store::lock;
use crate::world::{post, rpc};

/// A call that is ready but for its credentials.
struct Ready {
    name: String,
    writes: bool,
    make: Make,
}

/// Puts headers on a request.
type Make = Box<dyn Fn(&[(&str, &str)]) -> Request<Body>>;

/// What a caller sees of a refusal.
#[derive(Debug, PartialEq)]
struct Seen {
    /// HTTP status, or that of gRPC.
    status: u16,
    /// Of the JSON-RPC error; 0 elsewhere.
    code: i64,
    challenge: String,
    reason: String,
    metadata: String,
}

const OLD: [&str; 9] = [
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
];

fn writes(name: &str) -> bool {
    ["send", "stream", "cancel", "create", "delete", "set"]
        .iter()
        .any(|verb| name.to_lowercase().rsplit('/').next().is_some_and(|last| last.starts_with(verb)))
}

/// Every operation on every binding.
fn calls() -> Vec<Ready> {
    let mut all = Vec::new();
    for case in cases() {
        let body = rpc(case.method, &case.params);
        all.push(Ready {
            name: format!("JSON-RPC {}", case.method),
            writes: writes(case.method),
            make: Box::new(move |headers| with(post(), headers).body(body.clone().into()).unwrap()),
        });
        for old in ["", "v1/"] {
            let path = format!("/rest/{old}{}", if old.is_empty() { case.path } else { old_path(case.path) });
            if path.ends_with('/') {
                continue;
            }
            let body = case.body.as_ref().map_or_else(String::new, Value::to_string);
            let verb = case.verb;
            all.push(Ready {
                name: format!("HTTP {verb} {path}"),
                writes: writes(case.method),
                make: Box::new(move |headers| {
                    let request = Request::builder().method(verb).uri(&path).header("host", "127.0.0.1:8420");
                    let request = request.header("content-type", "application/json");
                    with(request, headers).body(body.clone().into()).unwrap()
                }),
            });
        }
    }
    for old in OLD {
        let body = rpc(old, &json!({}));
        all.push(Ready {
            name: format!("JSON-RPC {old}"),
            writes: writes(old),
            make: Box::new(move |headers| with(post(), headers).body(body.clone().into()).unwrap()),
        });
    }
    let schema = prost_reflect::DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).unwrap();
    for service in ["lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        for method in schema.get_service_by_name(service).unwrap().methods() {
            let path = format!("/{service}/{}", method.name());
            all.push(Ready {
                name: format!("gRPC {path}"),
                writes: writes(method.name()),
                make: Box::new(move |headers| grpc(&path, headers)),
            });
        }
    }
    assert!(all.len() >= 62, "{}", all.len());
    all
}

/// What v0.3 has under the same path; empty: nothing.
fn old_path(path: &'static str) -> &'static str {
    match path {
        "extendedAgentCard" => "card",
        path if path.starts_with("tasks?") => "",
        path => path,
    }
}

async fn seen(guarded: &Guarded, request: Request<Body>) -> Option<Seen> {
    let answer = guarded.world.open(request).await;
    let headers = answer.headers().clone();
    let challenge =
        headers.get("www-authenticate").map_or(String::new(), |value| value.to_str().unwrap().to_owned());
    if headers["content-type"] == "application/grpc" {
        let refused = Status::from_header_map(&headers).filter(|status| status.code() != tonic::Code::Ok)?;
        let fault = status::fault(&refused);
        return Some(Seen {
            status: u16::try_from(i32::from(refused.code())).unwrap(),
            code: 0,
            challenge,
            reason: fault.kind.row().reason.to_owned(),
            metadata: metadata(&json!(fault.metadata)),
        });
    }
    let status = answer.status().as_u16();
    if headers["content-type"] == "text/event-stream" {
        return None;
    }
    let bytes = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    // JSON-RPC and HTTP+JSON have it under `error`, HTTP+JSON of v0.3 at the top.
    let error = if body.get("data").is_some() { &body } else { body.get("error")? };
    let details = error.get("data").or_else(|| error.get("details")).unwrap();
    Some(Seen {
        status,
        code: if body.get("jsonrpc").is_some() { error["code"].as_i64().unwrap() } else { 0 },
        challenge,
        reason: details[0]["reason"].as_str().unwrap().to_owned(),
        metadata: metadata(&details[0]["metadata"]),
    })
}

fn metadata(metadata: &Value) -> String {
    let value = metadata.get("reason").or_else(|| metadata.get("scope"));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn expected(name: &str, kind: weft_core::Kind, challenge: &str, metadata: &str) -> Seen {
    let row = kind.row();
    let is_grpc = name.starts_with("gRPC");
    Seen {
        status: if is_grpc { u16::try_from(row.grpc).unwrap() } else { row.http },
        code: if name.starts_with("JSON-RPC") { i64::from(row.jsonrpc) } else { 0 },
        challenge: challenge.to_owned(),
        reason: row.reason.to_owned(),
        metadata: metadata.to_owned(),
    }
}

#[tokio::test]
async fn whoever_shows_nothing_or_nothing_good_is_refused_everywhere_before_anything_is_done() {
    let guarded = Guarded::with(closed(), |settings| settings.extended_card = "authenticated".into()).await;
    let bad = [
        ("authorization", "Bearer nobody"),
        ("authorization", "Bearer "),
        ("authorization", "Basic Y2k6Y2k="),
        ("x-api-key", "nobody"),
        ("x-api-key", ""),
    ];
    for call in calls() {
        let unauthenticated = weft_core::Kind::Unauthenticated;
        let none = seen(&guarded, (call.make)(&[])).await;
        let needed = expected(&call.name, unauthenticated, r#"Bearer realm="weft""#, "CREDENTIAL_REQUIRED");
        assert_eq!(none.as_ref(), Some(&needed), "{}", call.name);
        for shown in bad {
            let refused = seen(&guarded, (call.make)(&[shown])).await;
            let challenge = r#"Bearer realm="weft", error="invalid_token""#;
            let wrong = expected(&call.name, unauthenticated, challenge, "CREDENTIAL_INVALID");
            assert_eq!(refused, Some(wrong), "{} with {shown:?}", call.name);
        }
    }
    assert!(guarded.is_untouched());
}

#[tokio::test]
async fn whoever_lacks_the_scope_is_told_which_everywhere_before_anything_is_done() {
    let guarded = Guarded::with(closed(), |settings| settings.extended_card = "authenticated".into()).await;
    for call in calls() {
        let (token, scope) = if call.writes { ("reader", WRITE) } else { ("writer", READ) };
        let shown = format!("Bearer {token}-token");
        let refused = seen(&guarded, (call.make)(&[("authorization", &shown)])).await;
        let challenge = format!(r#"Bearer realm="weft", error="insufficient_scope", scope="{scope}""#);
        let lacking = expected(&call.name, weft_core::Kind::Denied, &challenge, scope);
        assert_eq!(refused, Some(lacking), "{}", call.name);
    }
    assert!(guarded.is_untouched());
}

#[tokio::test]
async fn whoever_shows_what_is_good_and_enough_is_served_everywhere() {
    let guarded = Guarded::with(closed(), |settings| settings.extended_card = "authenticated".into()).await;
    *lock(&guarded.world.script.ends) = true;
    for call in calls() {
        let enough = if call.writes { "Bearer writer-token" } else { "Bearer reader-token" };
        for shown in
            [("authorization", enough), ("authorization", "Bearer admin-token"), ("x-api-key", "ci-key")]
        {
            let refused = seen(&guarded, (call.make)(&[shown])).await;
            // Some of the calls are no good otherwise: they got as far as that.
            let on_its_merits = refused.as_ref().is_none_or(|seen| seen.reason == "INVALID_PARAMS");
            assert!(on_its_merits, "{} with {shown:?}: {refused:?}", call.name);
            let complete = call.name.starts_with("HTTP") && !call.name.contains("/v1/");
            assert!(!complete || refused.is_none(), "{} with {shown:?}: {refused:?}", call.name);
        }
    }
}
