//! Somebody else's task is as unknown as one that never was: on every binding, by every operation, byte for byte.

mod legacy;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use weft_chassis::status;
use weft_core::Owner;

use super::{Guarded, ajar, with};
use crate::bindings::cases;
use crate::store::lock;
use crate::world::{post, rpc};

/// An id that is as long as `t1`.
const UNKNOWN: &str = "t9";
const TOKEN: &str = "a-token-of-somebody-else";

/// The same call about another task.
fn about(value: &Value, id: &str) -> Value {
    serde_json::from_str(&value.to_string().replace("\"t1\"", &format!("\"{id}\""))).unwrap()
}

/// A follow-up is about a task too.
fn params(method: &str, params: &Value, id: &str) -> Value {
    let mut params = about(params, id);
    if method.starts_with("Send") {
        params["message"]["taskId"] = json!(id);
    }
    params
}

/// Everything that a caller sees: status, headers and body.
async fn bytes(guarded: &Guarded, request: Request<Body>) -> String {
    let (mut parts, body) = guarded.world.open(request).await.into_parts();
    let said = tonic::Status::from_header_map(&parts.headers).map(|refused| status::fault(&refused));
    parts.headers.remove("grpc-status-details-bin");
    let collected = body.collect().await.unwrap();
    let trailers = collected.trailers().cloned();
    let body = String::from_utf8_lossy(&collected.to_bytes()).into_owned();
    format!("{} {:?} {body} {trailers:?} {said:?}", parts.status, parts.headers)
}

async fn compare(guarded: &Guarded, what: &str, make: impl Fn(&str) -> Request<Body>) {
    let foreign = bytes(guarded, make("t1")).await;
    let unknown = bytes(guarded, make(UNKNOWN)).await;
    assert!(
        foreign.contains("TASK_NOT_FOUND") || foreign.contains("task%20not%20found"),
        "{what}: {foreign}"
    );
    assert_eq!(foreign.replace("t1", UNKNOWN), unknown, "{what}");
}

#[tokio::test]
async fn the_task_of_another_is_the_task_of_nobody() {
    let guarded = Guarded::new(ajar()).await;
    let owners = [("p:ci".to_owned(), "other"), (Owner::bearer_of(TOKEN).to_string(), "other")];
    let anonymous = ("p:ci".to_owned(), "");
    for (owner, caller) in owners.into_iter().chain([anonymous]) {
        *lock(&guarded.world.script.owner) = Some(owner);
        let shown = match caller {
            "" => ("task-access-token", "a-token-that-opens-nothing".to_owned()),
            name => ("authorization", format!("Bearer {name}-token")),
        };
        let shown = [(shown.0, shown.1.as_str())];
        for case in cases() {
            if matches!(case.method, "ListTasks" | "GetExtendedAgentCard") {
                continue;
            }
            compare(&guarded, case.method, |id| {
                let body = rpc(case.method, &params(case.method, &case.params, id));
                with(post(), &shown).body(body.into()).unwrap()
            })
            .await;
            compare(&guarded, case.path, |id| {
                let path = format!("/rest/{}", case.path.replace("t1", id));
                let body = case.body.as_ref().map(|body| params(case.method, body, id).to_string());
                let request = Request::builder().method(case.verb).uri(path).header("host", "localhost");
                let request = request.header("content-type", "application/json");
                with(request, &shown).body(body.unwrap_or_default().into()).unwrap()
            })
            .await;
            compare(&guarded, case.method, |id| {
                grpc(case.method, &params(case.method, &case.params, id), &shown)
            })
            .await;
        }
    }
    assert!(lock(&guarded.world.script.submitted).is_empty());
}

#[tokio::test]
async fn a_principal_lists_its_own_and_an_anonymous_caller_what_its_token_opens() {
    let guarded = Guarded::new(ajar()).await;
    guarded.call_as("ci-token", "ListTasks", &json!({})).await;
    guarded.call(&[("task-access-token", TOKEN)], "ListTasks", &json!({})).await;
    let owners: Vec<_> = lock(&guarded.world.script.listed).iter().map(|list| list.owner.clone()).collect();
    assert_eq!(owners, ["p:ci".to_owned(), Owner::bearer_of(TOKEN).to_string()]);
}

/// A gRPC call of v1.0 as it goes over the wire.
fn grpc(method: &str, params: &Value, headers: &[(&str, &str)]) -> Request<Body> {
    use weft_proto::a2a;
    fn wire<T: prost::Message + serde::de::DeserializeOwned>(params: &Value) -> Vec<u8> {
        weft_proto::json::decode::<T>(params.to_string().as_bytes()).unwrap().encode_to_vec()
    }
    let message = match method {
        "SendMessage" | "SendStreamingMessage" => wire::<a2a::SendMessageRequest>(params),
        "GetTask" => wire::<a2a::GetTaskRequest>(params),
        "CancelTask" => wire::<a2a::CancelTaskRequest>(params),
        "SubscribeToTask" => wire::<a2a::SubscribeToTaskRequest>(params),
        "CreateTaskPushNotificationConfig" => wire::<a2a::TaskPushNotificationConfig>(params),
        "GetTaskPushNotificationConfig" => wire::<a2a::GetTaskPushNotificationConfigRequest>(params),
        "ListTaskPushNotificationConfigs" => wire::<a2a::ListTaskPushNotificationConfigsRequest>(params),
        "DeleteTaskPushNotificationConfig" => wire::<a2a::DeleteTaskPushNotificationConfigRequest>(params),
        other => panic!("no test sends {other}: add it here"),
    };
    let mut frame = vec![0];
    frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    frame.extend(message);
    let request = super::grpc(&format!("/lf.a2a.v1.A2AService/{method}"), headers);
    request.map(|_| Body::from(frame))
}
