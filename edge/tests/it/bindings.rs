//! One behaviour on three bindings: every operation and every fault goes through all of them and must come out alike.

use std::collections::BTreeMap;

use futures::StreamExt;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tonic_reflection::pb::v1;
use weft_chassis::{Peer, status};
use weft_core::{Fault, Kind};
use weft_proto::a2a::a2a_service_client::A2aServiceClient;
use weft_proto::a2a::{self};

use crate::store::lock;
use crate::world::{World, get, post, rpc};

/// An operation as each binding says it: JSON-RPC method, ProtoJSON parameters, HTTP method and path.
pub(crate) struct Case {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) verb: &'static str,
    pub(crate) path: &'static str,
    /// What the HTTP body holds; the rest of the parameters is in the path.
    pub(crate) body: Option<Value>,
}

/// What came out: the answers in ProtoJSON, or the reason with its metadata and fields.
#[derive(Debug, PartialEq)]
enum Outcome {
    Answers(Vec<Value>),
    Refused { reason: String, message: String, fields: Vec<String>, metadata: BTreeMap<String, String> },
}

fn message() -> Value {
    json!({"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "network state"}]},
           "configuration": {"historyLength": 1}})
}

fn push() -> Value {
    json!({"taskId": "t1", "id": "p1", "url": "https://hooks.example/x", "token": "secret"})
}

/// Every operation of the schema, once.
pub(crate) fn cases() -> Vec<Case> {
    let case = |method, params, verb, path, body| Case { method, params, verb, path, body };
    let task = json!({"id": "t1"});
    let config = json!({"taskId": "t1", "id": "p1"});
    vec![
        case("SendMessage", message(), "POST", "message:send", Some(message())),
        case("SendStreamingMessage", message(), "POST", "message:stream", Some(message())),
        case("GetTask", json!({"id": "t1", "historyLength": 2}), "GET", "tasks/t1?historyLength=2", None),
        case("ListTasks", json!({"contextId": "c 1"}), "GET", "tasks?contextId=c+1", None),
        case("CancelTask", task.clone(), "POST", "tasks/t1:cancel", None),
        case("SubscribeToTask", task, "POST", "tasks/t1:subscribe", None),
        case(
            "CreateTaskPushNotificationConfig",
            push(),
            "POST",
            "tasks/t1/pushNotificationConfigs",
            Some(json!({"id": "p1", "url": "https://hooks.example/x", "token": "secret"})),
        ),
        case(
            "GetTaskPushNotificationConfig",
            config.clone(),
            "GET",
            "tasks/t1/pushNotificationConfigs/p1",
            None,
        ),
        case(
            "ListTaskPushNotificationConfigs",
            json!({"taskId": "t1"}),
            "GET",
            "tasks/t1/pushNotificationConfigs",
            None,
        ),
        case(
            "DeleteTaskPushNotificationConfig",
            config,
            "DELETE",
            "tasks/t1/pushNotificationConfigs/p1",
            None,
        ),
        case("GetExtendedAgentCard", json!({}), "GET", "extendedAgentCard", None),
    ]
}

/// Runs a case over JSON-RPC.
async fn over_rpc(world: &World, case: &Case) -> Outcome {
    let reply = world.post(rpc(case.method, &case.params)).await;
    let objects = if reply.header("content-type") == "text/event-stream" {
        events(&reply.text)
    } else {
        vec![reply.json()]
    };
    match objects.iter().find_map(|object| object.get("error")) {
        Some(error) => {
            let outcome = refused(&error["message"], &error["data"]);
            assert_eq!(reply.status.as_u16(), rpc_status(&outcome), "{reply:?}");
            outcome
        }
        None => Outcome::Answers(objects.into_iter().map(|mut object| object["result"].take()).collect()),
    }
}

/// JSON-RPC says most faults under 200, and under a status of their own those that every client of HTTP acts on.
fn rpc_status(outcome: &Outcome) -> u16 {
    match outcome {
        Outcome::Refused { reason, .. } => match Kind::from_reason(reason).unwrap() {
            kind @ (Kind::Unauthenticated | Kind::Denied | Kind::Exhausted) => kind.row().http,
            _ => 200,
        },
        Outcome::Answers(_) => 200,
    }
}

/// Runs a case over HTTP+JSON; its status must be the one of the fault.
async fn over_http(world: &World, case: &Case) -> Outcome {
    let request = Request::builder()
        .method(case.verb)
        .uri(format!("/rest/{}", case.path))
        .header("host", "127.0.0.1:8420")
        .header("content-type", "application/json");
    let body = case.body.as_ref().map_or_else(String::new, Value::to_string);
    let reply = world.send(request.body(body.into()).unwrap()).await;
    if reply.header("content-type") == "text/event-stream" {
        return Outcome::Answers(events(&reply.text));
    }
    let answer = reply.json();
    let Some(error) = answer.get("error") else { return Outcome::Answers(vec![answer]) };
    assert_eq!(error["code"], reply.status.as_u16(), "{error}");
    let outcome = refused(&error["message"], &error["details"]);
    if let Outcome::Refused { reason, .. } = &outcome {
        assert_eq!(reply.status.as_u16(), Kind::from_reason(reason).unwrap().row().http, "{error}");
    }
    outcome
}

/// Runs a case over gRPC; its code must be the one of the fault.
async fn over_grpc(client: &mut A2aServiceClient<Peer>, case: &Case) -> Outcome {
    match called(client, case.method, &case.params).await {
        Ok(answers) => Outcome::Answers(answers),
        Err(refused) => {
            let fault = status::fault(&refused);
            assert_eq!(i32::from(refused.code()), fault.kind.row().grpc, "{refused:?}");
            Outcome::Refused {
                reason: fault.kind.row().reason.to_owned(),
                message: fault.message,
                fields: fault.violations.into_iter().map(|v| v.field).collect(),
                metadata: fault.metadata,
            }
        }
    }
}

async fn called(
    client: &mut A2aServiceClient<Peer>,
    method: &str,
    params: &Value,
) -> Result<Vec<Value>, tonic::Status> {
    fn read<T: serde::de::DeserializeOwned>(params: &Value) -> T {
        weft_proto::json::decode(params.to_string().as_bytes()).unwrap()
    }
    fn one<T: serde::Serialize>(answer: tonic::Response<T>) -> Vec<Value> {
        vec![serde_json::to_value(answer.into_inner()).unwrap()]
    }
    async fn all(
        answer: tonic::Response<tonic::Streaming<a2a::StreamResponse>>,
    ) -> Result<Vec<Value>, tonic::Status> {
        let mut events = answer.into_inner();
        let mut found = Vec::new();
        while let Some(event) = events.next().await {
            found.push(serde_json::to_value(event?).unwrap());
        }
        Ok(found)
    }
    Ok(match method {
        "SendMessage" => one(client.send_message(read::<a2a::SendMessageRequest>(params)).await?),
        "SendStreamingMessage" => {
            all(client.send_streaming_message(read::<a2a::SendMessageRequest>(params)).await?).await?
        }
        "GetTask" => one(client.get_task(read::<a2a::GetTaskRequest>(params)).await?),
        "ListTasks" => one(client.list_tasks(read::<a2a::ListTasksRequest>(params)).await?),
        "CancelTask" => one(client.cancel_task(read::<a2a::CancelTaskRequest>(params)).await?),
        "SubscribeToTask" => {
            all(client.subscribe_to_task(read::<a2a::SubscribeToTaskRequest>(params)).await?).await?
        }
        "CreateTaskPushNotificationConfig" => {
            let config = read::<a2a::TaskPushNotificationConfig>(params);
            one(client.create_task_push_notification_config(config).await?)
        }
        "GetTaskPushNotificationConfig" => {
            let request = read::<a2a::GetTaskPushNotificationConfigRequest>(params);
            one(client.get_task_push_notification_config(request).await?)
        }
        "ListTaskPushNotificationConfigs" => {
            let request = read::<a2a::ListTaskPushNotificationConfigsRequest>(params);
            one(client.list_task_push_notification_configs(request).await?)
        }
        "DeleteTaskPushNotificationConfig" => {
            let request = read::<a2a::DeleteTaskPushNotificationConfigRequest>(params);
            client.delete_task_push_notification_config(request).await?;
            vec![Value::Null]
        }
        "GetExtendedAgentCard" => {
            let request = read::<a2a::GetExtendedAgentCardRequest>(params);
            one(client.get_extended_agent_card(request).await?)
        }
        other => panic!("no test sends {other}: add it to cases() and here"),
    })
}

fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).unwrap()).collect()
}

fn refused(message: &Value, details: &Value) -> Outcome {
    let details = details.as_array().unwrap();
    let fields = details.iter().filter_map(|d| d["fieldViolations"].as_array()).flatten();
    Outcome::Refused {
        reason: details[0]["reason"].as_str().unwrap().to_owned(),
        message: message.as_str().unwrap().to_owned(),
        fields: fields.map(|f| f["field"].as_str().unwrap().to_owned()).collect(),
        metadata: details[0]
            .get("metadata")
            .map_or_else(BTreeMap::new, |m| serde_json::from_value(m.clone()).unwrap()),
    }
}

/// A case over all three bindings; the one outcome.
async fn alike(world: &World, case: &Case) -> Outcome {
    let rpc = over_rpc(world, case).await;
    let http = over_http(world, case).await;
    let grpc = over_grpc(&mut A2aServiceClient::new(world.peer()), case).await;
    if case.method == "DeleteTaskPushNotificationConfig" && matches!(rpc, Outcome::Answers(_)) {
        // Nothing is said as null in JSON-RPC and as an empty message in the others.
        assert_eq!(rpc, Outcome::Answers(vec![Value::Null]));
        assert_eq!(http, Outcome::Answers(vec![json!({})]));
        return grpc;
    }
    assert_eq!(rpc, http, "{}: JSON-RPC and HTTP+JSON", case.method);
    assert_eq!(rpc, grpc, "{}: JSON-RPC and gRPC", case.method);
    rpc
}

#[tokio::test]
async fn every_operation_answers_alike_on_every_binding() {
    let world = World::with(|settings| settings.extended_card = "open".into()).await;
    for case in cases() {
        if matches!(case.method, "SendStreamingMessage" | "SubscribeToTask") {
            *lock(&world.script.ends) = true;
        }
        let outcome = alike(&world, &case).await;
        assert!(matches!(&outcome, Outcome::Answers(all) if !all.is_empty()), "{}: {outcome:?}", case.method);
    }
}

#[test]
fn the_cases_are_the_methods_of_the_schema() {
    let schema = prost_reflect::DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).unwrap();
    let service = schema.get_service_by_name("lf.a2a.v1.A2AService").unwrap();
    let mut declared: Vec<_> = service.methods().map(|method| method.name().to_owned()).collect();
    let mut tested: Vec<_> = cases().iter().map(|case| case.method.to_owned()).collect();
    declared.sort();
    tested.sort();
    assert_eq!(tested, declared, "an operation that no binding test sends");
}

#[tokio::test]
async fn every_fault_of_the_store_comes_out_alike_on_every_binding() {
    let world = World::new().await;
    for kind in Kind::ALL {
        let mut fault = Fault::new(kind, "cannot do it").with("taskId", "t1");
        fault.violations.push(weft_core::Violation { field: "id".into(), description: "is wrong".into() });
        for case in cases().iter().filter(|case| case.method != "GetExtendedAgentCard") {
            world.script_refusals(&status::status(fault.clone()));
            let outcome = alike(&world, case).await;
            let Outcome::Refused { reason, fields, metadata, .. } = outcome else {
                panic!("{}: {outcome:?}", case.method)
            };
            assert_eq!(reason, kind.row().reason, "{}", case.method);
            assert_eq!(fields, ["id"]);
            assert_eq!(metadata["taskId"], "t1");
        }
    }
    *lock(&world.script.refuse) = None;
}

#[tokio::test]
async fn bad_requests_are_refused_alike_before_the_store() {
    let world = World::new().await;
    let send = |message: Value| {
        let params = json!({"message": message});
        ("SendMessage", params.clone(), "POST", "message:send", Some(params))
    };
    let text = json!([{"text": "x"}]);
    for ((method, params, verb, path, body), field) in [
        (("SendMessage", json!({}), "POST", "message:send", Some(json!({}))), "message"),
        (send(json!({"role": "ROLE_USER", "parts": text})), "message.messageId"),
        (send(json!({"messageId": " ", "role": "ROLE_USER", "parts": text})), "message.messageId"),
        (send(json!({"messageId": "m", "role": "ROLE_USER", "parts": []})), "message.parts"),
        (send(json!({"messageId": "m", "role": "ROLE_USER", "parts": [{}]})), "message.parts[0]"),
        (send(json!({"messageId": "m", "role": "ROLE_AGENT", "parts": text})), "message.role"),
        (send(json!({"messageId": "m", "parts": text})), "message.role"),
        (("GetTask", json!({"id": " "}), "GET", "tasks/%20", None), "id"),
        (
            ("GetTask", json!({"id": "t", "historyLength": -1}), "GET", "tasks/t?historyLength=-1", None),
            "historyLength",
        ),
    ] {
        let outcome = alike(&world, &Case { method, params, verb, path, body }).await;
        let Outcome::Refused { reason, fields, .. } = outcome else { panic!("{method}: {outcome:?}") };
        assert_eq!((reason.as_str(), fields.as_slice()), ("INVALID_PARAMS", [field.to_owned()].as_slice()));
    }
    let (method, params) = ("GetTask", json!({"id": "t", "tenant": "nobody"}));
    let nobody = Case { method, params, verb: "GET", path: "nobody/tasks/t", body: None };
    let Outcome::Refused { reason, fields, .. } = alike(&world, &nobody).await else { panic!("answered") };
    assert_eq!((reason.as_str(), fields.as_slice()), ("NOT_FOUND", ["tenant".to_owned()].as_slice()));
    assert!(lock(&world.script.submitted).is_empty() && lock(&world.script.got).is_empty());
}

#[tokio::test]
async fn an_unsupported_version_is_refused_on_every_binding_with_the_supported_ones() {
    let world = World::new().await;
    for version in ["99.0", "2.0", "0.30", "1", "abc"] {
        let rpc = world
            .send(
                post()
                    .header("a2a-version", version)
                    .body(rpc("GetTask", &json!({"id": "t"})).into())
                    .unwrap(),
            )
            .await
            .json();
        assert_eq!(rpc["error"]["code"], -32009, "{version}");
        let supported = rpc["error"]["data"][0]["metadata"]["supportedVersions"].clone();
        assert_eq!(supported, "1.0, 0.3");
        let http =
            get("/rest/tasks/t").header("a2a-version", version).body(axum::body::Body::empty()).unwrap();
        let http = world.send(http).await;
        assert_eq!(http.status, StatusCode::BAD_REQUEST);
        assert_eq!(http.json()["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
        let query = format!("/rest/tasks/t?A2A-Version={version}");
        assert_eq!(world.get(&query).await.json()["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
        let mut request = tonic::Request::new(a2a::GetTaskRequest { id: "t".into(), ..Default::default() });
        request.metadata_mut().insert("a2a-version", version.parse().unwrap());
        let refused = A2aServiceClient::new(world.peer()).get_task(request).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::FailedPrecondition);
        assert_eq!(status::fault(&refused).metadata["supportedVersions"], supported);
    }
}

#[tokio::test]
async fn required_extensions_are_enforced_and_used_ones_echoed_on_every_binding() {
    let world = World::new().await;
    world.require_extension("urn:sample:must").await;
    for case in cases() {
        let outcome = alike(&world, &case).await;
        let Outcome::Refused { reason, metadata, .. } = outcome else { panic!("{}", case.method) };
        assert_eq!(
            (reason.as_str(), metadata["required"].as_str()),
            ("EXTENSION_SUPPORT_REQUIRED", "urn:sample:must")
        );
    }
    let asked = "urn:other, urn:sample:must";
    let body = rpc("GetTask", &json!({"id": "t"}));
    let reply = world.send(post().header("a2a-extensions", asked).body(body.into()).unwrap()).await;
    assert_eq!(reply.header("a2a-extensions"), "urn:sample:must", "{reply:?}");
    let request = get("/rest/tasks/t").header("a2a-extensions", asked).body(axum::body::Body::empty());
    assert_eq!(world.send(request.unwrap()).await.header("a2a-extensions"), "urn:sample:must");
    let mut request = tonic::Request::new(a2a::GetTaskRequest { id: "t".into(), ..Default::default() });
    request.metadata_mut().insert("a2a-extensions", asked.parse().unwrap());
    let answer = A2aServiceClient::new(world.peer()).get_task(request).await.unwrap();
    assert_eq!(answer.metadata().get("a2a-extensions").unwrap(), "urn:sample:must");
}

#[tokio::test]
async fn what_is_too_much_is_too_much_on_every_binding() {
    let world = World::with(|settings| settings.body_bytes_max = 65_536).await;
    let send = |message: Value| {
        let params = json!({"message": message});
        Case { method: "SendMessage", body: Some(params.clone()), params, verb: "POST", path: "message:send" }
    };
    let text = |parts: Value| json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
    let deep = |levels: usize| {
        let value = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        text(json!([{"data": value}, {"text": "network state"}]))
    };
    let long = "x".repeat(weft_core::message::ID_CHARS_MAX + 1);
    let many = vec![json!({"text": "x"}); weft_core::message::PARTS_MAX + 1];
    for (case, reason) in [
        (send(text(json!([{"text": "x".repeat(70_000)}]))), "TOO_LARGE"),
        (send(text(json!(many))), "INVALID_PARAMS"),
        (send(json!({"messageId": long, "role": "ROLE_USER", "parts": [{"text": "x"}]})), "INVALID_PARAMS"),
    ] {
        let rpc = over_rpc_any_status(&world, &case).await;
        let http = over_http(&world, &case).await;
        let grpc = over_grpc(&mut A2aServiceClient::new(world.peer()), &case).await;
        for outcome in [rpc, http, grpc] {
            let Outcome::Refused { reason: found, .. } = outcome else { panic!("{outcome:?}") };
            assert_eq!(found, reason);
        }
    }
    let fits = alike(&world, &send(deep(weft_proto::json::MAX_JSON_DEPTH))).await;
    assert!(matches!(fits, Outcome::Answers(_)), "{fits:?}");
    let params = json!({"message": deep(weft_proto::json::MAX_JSON_DEPTH + 1)});
    assert_eq!(world.code("SendMessage", params).await, -32602);
}

/// As [`over_rpc`], for refusals that have an HTTP status of their own.
async fn over_rpc_any_status(world: &World, case: &Case) -> Outcome {
    let error = world.post(rpc(case.method, &case.params)).await.json()["error"].take();
    refused(&error["message"], &error["data"])
}

#[tokio::test]
async fn a_grpc_timeout_bounds_the_call_and_not_the_work() {
    let world = World::new().await;
    *lock(&world.script.submit) = Some(Ok(futures::stream::pending().boxed()));
    let message: a2a::SendMessageRequest =
        weft_proto::json::decode(message().to_string().as_bytes()).unwrap();
    let mut request = tonic::Request::new(message);
    request.metadata_mut().insert("grpc-timeout", "50m".parse().unwrap());
    let refused = A2aServiceClient::new(world.peer()).send_message(request).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::DeadlineExceeded, "{refused:?}");
    assert_eq!(lock(&world.script.submitted).len(), 1);
    assert!(lock(&world.script.cancelled).is_empty());
}

#[tokio::test]
async fn reflection_and_health_are_served_and_unknown_services_are_refused_as_grpc_does() {
    let world = World::new().await;
    let health = tonic_health::pb::health_client::HealthClient::new(world.peer());
    for service in ["", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"] {
        let asked = tonic_health::pb::HealthCheckRequest { service: service.into() };
        let answer = health.clone().check(asked).await.unwrap().into_inner();
        assert_eq!(answer.status, 1, "{service:?} is serving");
    }
    let asked = v1::ServerReflectionRequest {
        message_request: Some(v1::server_reflection_request::MessageRequest::ListServices(String::new())),
        ..v1::ServerReflectionRequest::default()
    };
    let mut reflection = v1::server_reflection_client::ServerReflectionClient::new(world.peer());
    let mut answers =
        reflection.server_reflection_info(futures::stream::iter([asked])).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let v1::server_reflection_response::MessageResponse::ListServicesResponse(list) = answer else {
        panic!()
    };
    let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"lf.a2a.v1.A2AService") && names.contains(&"a2a.v1.A2AService"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("weft.")),
        "the mesh's own are not served here: {names:?}"
    );
    for path in ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/no.such.Service/Method"] {
        let request = http::Request::post(path)
            .header("host", "127.0.0.1:8420")
            .header("content-type", "application/grpc");
        let answer = world.open(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let status = answer.headers().get("grpc-status").map(|v| v.to_str().unwrap());
        assert_eq!(status == Some("12"), path.contains("no.such"), "{path}: {status:?}");
    }
}
