//! Requests of JSON-RPC, by example.

use serde_json::{Value, json};
use weft_proto::a2a as v1;
use weft_proto::a2a::Role;
use weft_v03::Request;
use weft_v03::jsonrpc::Method;

use super::made::text;

fn read(method: &str, params: &Value) -> Request {
    let method = Method::find(method).expect("a method of v0.3");
    method.read(&params.to_string()).unwrap_or_else(|fault| panic!("{params}: {fault}"))
}

fn params(request: &Request) -> Value {
    let mut out = Vec::new();
    request.params(&mut out).expect("as it should be");
    serde_json::from_slice(&out).expect("as it should be")
}

fn both_ways(method: &str, params_: &Value, request: &Request) {
    assert_eq!(read(method, params_), *request);
    assert_eq!(request.method().name(), method);
    assert_eq!(params(request), *params_);
}

fn hello() -> v1::Message {
    v1::Message {
        message_id: "m".into(),
        role: Role::User.into(),
        parts: vec![text("hi")],
        ..v1::Message::default()
    }
}

#[test]
fn a_message_is_sent_with_all_its_options() {
    let given = json!({
        "message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]},
        "configuration": {
            "blocking": false, "acceptedOutputModes": ["text/plain"], "historyLength": 3,
            "pushNotificationConfig": {"id": "p", "url": "https://h/", "token": "k",
                                       "authentication": {"schemes": ["Bearer"], "credentials": "s"}},
        },
        "metadata": {"a": 1},
    });
    let request = v1::SendMessageRequest {
        message: Some(hello()),
        configuration: Some(v1::SendMessageConfiguration {
            accepted_output_modes: vec!["text/plain".into()],
            task_push_notification_config: Some(v1::TaskPushNotificationConfig {
                id: "p".into(),
                url: "https://h/".into(),
                token: "k".into(),
                authentication: Some(v1::AuthenticationInfo {
                    scheme: "Bearer".into(),
                    credentials: "s".into(),
                }),
                ..v1::TaskPushNotificationConfig::default()
            }),
            history_length: Some(3),
            return_immediately: true,
        }),
        metadata: Some([("a", 1)].into_iter().collect()),
        tenant: String::new(),
    };
    both_ways("message/send", &given, &Request::SendMessage(request.clone()));
    both_ways("message/stream", &given, &Request::SendStreamingMessage(request));
}

#[test]
fn blocking_is_the_opposite_of_return_immediately_and_the_default() {
    let immediately = |configuration: Value| {
        let given = json!({"message": {"messageId": "m"}, "configuration": configuration});
        match read("message/send", &given) {
            Request::SendMessage(v1::SendMessageRequest { configuration, .. }) => {
                configuration.is_some_and(|c| c.return_immediately)
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(immediately(json!({"blocking": false})));
    for waiting in [json!({"blocking": true}), json!({"blocking": null}), json!({}), json!(null)] {
        assert!(!immediately(waiting.clone()), "{waiting}");
    }
    let request = v1::SendMessageRequest { message: Some(hello()), ..v1::SendMessageRequest::default() };
    assert_eq!(params(&Request::SendMessage(request))["configuration"], json!({"blocking": true}));
}

#[test]
fn history_length_zero_is_as_good_as_unset_and_any_whole_number_is_read() {
    for (given, length) in [("0", None), ("null", None), ("5", Some(5)), ("5.0", Some(5)), ("-1", Some(-1))] {
        let text = format!(r#"{{"id":"t","historyLength":{given}}}"#);
        let request = Method::GetTask.read(&text).unwrap();
        let expected =
            v1::GetTaskRequest { id: "t".into(), history_length: length, ..v1::GetTaskRequest::default() };
        assert_eq!(request, Request::GetTask(expected), "{given}");
    }
    for given in ["1.5", "2147483648", "true", r#""x""#] {
        let fault = Method::GetTask.read(&format!(r#"{{"historyLength":{given}}}"#)).unwrap_err();
        assert_eq!(fault.violations[0].field, "historyLength", "{given}");
    }
}

#[test]
fn tasks_are_named_by_id() {
    both_ways(
        "tasks/get",
        &json!({"id": "t", "historyLength": 2}),
        &Request::GetTask(v1::GetTaskRequest {
            id: "t".into(),
            history_length: Some(2),
            ..v1::GetTaskRequest::default()
        }),
    );
    both_ways(
        "tasks/cancel",
        &json!({"id": "t", "metadata": {}}),
        &Request::CancelTask(v1::CancelTaskRequest {
            id: "t".into(),
            metadata: Some(weft_proto::wkt::Struct::default()),
            ..v1::CancelTaskRequest::default()
        }),
    );
    both_ways(
        "tasks/resubscribe",
        &json!({"id": "t"}),
        &Request::SubscribeToTask(v1::SubscribeToTaskRequest {
            id: "t".into(),
            ..v1::SubscribeToTaskRequest::default()
        }),
    );
}

#[test]
fn push_configurations_lie_a_level_deeper() {
    let config = v1::TaskPushNotificationConfig {
        id: "p".into(),
        task_id: "t".into(),
        url: "https://h/".into(),
        ..v1::TaskPushNotificationConfig::default()
    };
    let nested = json!({"taskId": "t", "pushNotificationConfig": {"id": "p", "url": "https://h/"}});
    both_ways("tasks/pushNotificationConfig/set", &nested, &Request::CreatePushConfig(config.clone()));
    let one = v1::GetTaskPushNotificationConfigRequest {
        task_id: "t".into(),
        id: "p".into(),
        ..Default::default()
    };
    let first = v1::GetTaskPushNotificationConfigRequest { id: String::new(), ..one.clone() };
    let get = "tasks/pushNotificationConfig/get";
    both_ways(get, &json!({"id": "t", "pushNotificationConfigId": "p"}), &Request::GetPushConfig(one));
    both_ways(get, &json!({"id": "t"}), &Request::GetPushConfig(first));
    let all = v1::ListTaskPushNotificationConfigsRequest { task_id: "t".into(), ..Default::default() };
    both_ways("tasks/pushNotificationConfig/list", &json!({"id": "t"}), &Request::ListPushConfigs(all));
    let gone = v1::DeleteTaskPushNotificationConfigRequest {
        task_id: "t".into(),
        id: "p".into(),
        ..Default::default()
    };
    let delete = json!({"id": "t", "pushNotificationConfigId": "p"});
    both_ways("tasks/pushNotificationConfig/delete", &delete, &Request::DeletePushConfig(gone));

    let list = v1::ListTaskPushNotificationConfigsResponse { configs: vec![config], ..Default::default() };
    let mut out = Vec::new();
    weft_v03::json::encode(&list, &mut out).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), json!([nested]));
    let text = std::str::from_utf8(&out).unwrap();
    assert_eq!(
        weft_v03::json::decode::<v1::ListTaskPushNotificationConfigsResponse>(text, "result").unwrap(),
        list
    );
}

#[test]
fn the_extended_card_takes_no_parameters() {
    let request = Request::GetExtendedAgentCard(v1::GetExtendedAgentCardRequest::default());
    both_ways("agent/getAuthenticatedExtendedCard", &json!({}), &request);
    assert_eq!(Method::GetExtendedAgentCard.read("").unwrap(), request);
}

#[test]
fn names_that_v03_has_not_are_no_methods() {
    for name in ["tasks/list", "SendMessage", "message/Send", "", "tasks/sendSubscribe"] {
        assert_eq!(Method::find(name), None, "{name}");
    }
    let streams: Vec<_> = Method::ALL.into_iter().filter(|m| m.streams()).map(Method::name).collect();
    assert_eq!(streams, ["message/stream", "tasks/resubscribe"]);
}

#[test]
fn faults_of_parameters_are_named_by_their_path() {
    for (params, field) in [
        (json!({"message": {"role": "ROBOT"}}), "message.role"),
        (json!({"message": {"parts": [{"kind": "x"}]}}), "message.parts[0].kind"),
        (json!({"configuration": {"blocking": "no"}}), "configuration.blocking"),
        (json!({"configuration": {"pushNotificationConfig": []}}), "configuration.pushNotificationConfig"),
        (json!({"metadata": {"n": [1e-400, 9007199254740993_u64]}}), "metadata.n[1]"),
        (json!(7), "params"),
    ] {
        let fault = Method::SendMessage.read(&params.to_string()).unwrap_err();
        assert_eq!(fault.violations[0].field, field, "{params}");
    }
}
