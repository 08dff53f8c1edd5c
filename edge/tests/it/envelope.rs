//! JSON-RPC 2.0 as such: envelopes, ids, methods, notifications, content types.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use crate::store::lock;
use crate::world::{World, hello, post, rpc};

#[tokio::test]
async fn every_broken_envelope_has_its_code_and_its_id_inside_http_200() {
    let world = World::new().await;
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7)),
        (r#""text""#, -32600, Value::Null),
        ("null", -32600, Value::Null),
        (r#"{"hello":"world"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":1,"method":"GetTask"}"#, -32600, json!(1)),
        (r#"{"id":"x","method":"GetTask"}"#, -32600, json!("x")),
        (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"method":42}"#, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"NoSuch"}"#, -32601, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}"#, -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}"#, -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":7}"#, -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":null}"#, -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#, -32602, json!(1)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"GetTask"}"#, -32602, Value::Null),
        ("[]", -32600, Value::Null),
        ("[1]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ListTasks"}]"#, -32600, Value::Null),
    ] {
        let reply = world.post(body).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (StatusCode::OK, "application/json"),
            "{body}"
        );
        let answer = reply.json();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body}: {answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(
            answer["error"]["data"][0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo",
            "{answer}"
        );
        assert_eq!(answer.as_object().unwrap().len(), 3, "jsonrpc, id, error: {answer}");
    }
}

#[tokio::test]
async fn an_id_comes_back_digit_for_digit_and_params_may_be_left_out() {
    let world = World::new().await;
    for id in ["9007199254740993", "-1", "0", r#""a\u0041é""#, "null"] {
        let reply = world.post(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ListTasks"}}"#)).await;
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}}}}"#
        );
        assert_eq!(reply.text, expected);
    }
}

#[tokio::test]
async fn both_spellings_of_the_path_answer_and_other_methods_are_told_to_post() {
    let world = World::new().await;
    for path in ["/a2a", "/a2a/"] {
        let call =
            || Request::post(path).header("host", "localhost").body(Body::from(rpc("ListTasks", &json!({}))));
        let reply = world.send(call().unwrap()).await;
        assert_eq!((reply.status, reply.json()["result"]["totalSize"].clone()), (StatusCode::OK, json!(0)));
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let request = Request::builder().method(method).uri(path).header("host", "localhost");
            let reply = world.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(
                (reply.status, reply.header("allow")),
                (StatusCode::METHOD_NOT_ALLOWED, "POST, OPTIONS")
            );
            assert_eq!(reply.json()["error"]["code"], -32600);
        }
    }
}

#[tokio::test]
async fn the_content_type_is_json_or_left_out() {
    let world = World::new().await;
    for (content_type, fine) in [
        (None, true),
        (Some("application/json"), true),
        (Some("Application/JSON; charset=utf-8"), true),
        (Some("application/a2a+json"), true),
        (Some("text/plain"), false),
        (Some("application/xml"), false),
        (Some("multipart/form-data; boundary=x"), false),
    ] {
        let mut request = Request::post("/a2a").header("host", "localhost");
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        // Not even JSON: a wrong type is refused before the body is looked at.
        let body = if fine { rpc("ListTasks", &json!({})) } else { "{".to_owned() };
        let reply = world.send(request.body(body.into()).unwrap()).await;
        assert_eq!(reply.status, StatusCode::OK, "{content_type:?}");
        let expected = if fine { Value::Null } else { json!(-32005) };
        assert_eq!(reply.json()["error"]["code"], expected, "{content_type:?}");
    }
    let packed = post().header("content-encoding", "gzip").body(Body::from("x")).unwrap();
    let reply = world.send(packed).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].clone()),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, json!(-32005))
    );
}

#[tokio::test]
async fn a_notification_gets_no_answer_and_a_stream_nobody_reads_is_not_begun() {
    let world = World::new().await;
    let notify = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
    };
    for (method, params, ran) in [
        ("SendMessage", hello("which sectors moved most"), 1),
        ("SendStreamingMessage", hello("which sectors moved most"), 0),
        ("SendMessage", json!({}), 0),
        ("GetTask", json!({"id": "t1"}), 0),
        ("NoSuch", json!({}), 0),
    ] {
        let reply = world.post(notify(method, params)).await;
        assert_eq!((reply.status, reply.text.as_str()), (StatusCode::NO_CONTENT, ""), "{method}");
        assert_eq!(lock(&world.script.submitted).drain(..).count(), ran, "{method}");
    }
    assert!(lock(&world.script.got).is_empty());
    world.post(notify("CancelTask", json!({"id": "t1"}))).await;
    assert_eq!(lock(&world.script.cancelled).len(), 1);
}

#[tokio::test]
async fn the_version_of_the_protocol_is_heard() {
    let world = World::new().await;
    for (version, code) in
        [("", None), ("1.0", None), ("1.0.3", None), ("0.3", Some(-32601)), ("99.0", Some(-32009))]
    {
        let request =
            post().header("a2a-version", version).body(rpc("ListTasks", &json!({})).into()).unwrap();
        let answer = world.send(request).await.json();
        assert_eq!(answer["error"]["code"].as_i64(), code, "{version:?}");
        assert_eq!(answer["id"], 1);
        if code == Some(-32009) {
            let info = &answer["error"]["data"][0];
            assert_eq!(
                (&info["reason"], &info["metadata"]["supportedVersions"]),
                (&json!("VERSION_NOT_SUPPORTED"), &json!("1.0, 0.3"))
            );
        }
    }
    let request = Request::post("/a2a?A2A-Version=99.0").header("host", "localhost");
    let answer = world.send(request.body(rpc("ListTasks", &json!({})).into()).unwrap()).await.json();
    assert_eq!(answer["error"]["code"], -32009);
}

#[tokio::test]
async fn what_is_not_offered_says_so() {
    let world = World::with(|settings| {
        settings.push_notifications = false;
        settings.streaming = false;
    })
    .await;
    for method in [
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
    ] {
        assert_eq!(world.code(method, json!({})).await, -32003, "{method}");
    }
    assert_eq!(world.code("GetExtendedAgentCard", json!({})).await, -32007);
    assert_eq!(world.code("SubscribeToTask", json!({"id": "t1"})).await, -32004);
    let mut message = hello("network state");
    assert_eq!(world.code("SendStreamingMessage", message.clone()).await, -32004);
    message["configuration"] = json!({"taskPushNotificationConfig": {"url": "https://hooks.example/x"}});
    assert_eq!(world.code("SendMessage", message).await, -32003);
}

#[tokio::test]
async fn unknown_extensions_and_unknown_fields_do_no_harm() {
    let world = World::new().await;
    let params = json!({"id": "t1", "noSuchField": {"a": [1]}, "history_length": 1});
    let request =
        post().header("a2a-extensions", "https://x.example/a, urn:b").body(rpc("GetTask", &params).into());
    assert_eq!(world.send(request.unwrap()).await.json()["result"]["id"], "t1");
    assert_eq!(lock(&world.script.got)[0].history_length, Some(1));
}
