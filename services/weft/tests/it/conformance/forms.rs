//! What each form says of itself, and that it keeps to it.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{form, message};

#[tokio::test(flavor = "multi_thread")]
async fn the_full_form_offers_everything_to_callers_without_credentials() {
    let form = form("full.toml").await;
    let card = form.card().await;
    for capability in ["streaming", "pushNotifications", "extendedAgentCard"] {
        assert_eq!(card["capabilities"][capability], true, "{capability}");
    }
    for legacy in ["url", "preferredTransport", "protocolVersion", "additionalInterfaces"] {
        assert_eq!(card.get(legacy), None, "the closed schema has no room for {legacy}");
    }
    let extended: Value = form.client().call("GetExtendedAgentCard", &json!({})).await.unwrap();
    let description = extended["description"].as_str().unwrap();
    assert!(description.contains("on the extended card only"), "{description}");

    // Everything that the kits do with webhooks is done to a task that is over.
    let task = form.said("tck-complete-task-1", "hello").await["task"]["id"].clone();
    let webhook = |id: &str, url: &str| json!({ "taskId": task, "id": id, "url": url });
    let call =
        async |method: &str, params: Value| form.client().call::<Value>(method, &params).await.unwrap();
    for (id, url) in [("far", "https://example.com/hook"), ("near", "http://localhost:9/webhook")] {
        let kept = call("CreateTaskPushNotificationConfig", webhook(id, url)).await;
        assert_eq!((&kept["id"], &kept["url"]), (&json!(id), &json!(url)));
    }
    let listed = call("ListTaskPushNotificationConfigs", json!({ "taskId": task })).await;
    assert_eq!(listed["configs"].as_array().unwrap().len(), 2, "{listed}");
    for _ in 0..2 {
        call("DeleteTaskPushNotificationConfig", json!({ "taskId": task, "id": "far" })).await;
    }
    let gone = json!({ "taskId": task, "id": "far" });
    assert_eq!(form.refused("GetTaskPushNotificationConfig", &gone).await.0, -32001);
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_without_capabilities_refuses_what_its_card_does_not_offer() {
    let form = form("no-capabilities.toml").await;
    let card = form.card().await;
    for capability in ["streaming", "pushNotifications", "extendedAgentCard"] {
        assert_ne!(card["capabilities"][capability], true, "{capability}");
    }
    let task = form.said("tck-input-required-1", "hello").await["task"]["id"].clone();
    let of_task = json!({ "id": task });
    let webhook = json!({ "taskId": task, "url": "https://example.com/hook" });
    for (method, params, code) in [
        ("SendStreamingMessage", message("m-1", "hello"), -32004),
        ("SubscribeToTask", of_task, -32004),
        ("CreateTaskPushNotificationConfig", webhook, -32003),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": task }), -32003),
    ] {
        assert_eq!(form.refused(method, &params).await.0, code, "{method}");
    }
    let (code, _) = form.refused("GetExtendedAgentCard", &json!({})).await;
    assert!([-32004, -32007].contains(&code), "{code}");
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_with_a_required_extension_takes_only_callers_that_name_it() {
    let form = form("required-extension.toml").await;
    let card = form.card().await;
    let extensions = card["capabilities"]["extensions"].as_array().unwrap();
    let required: Vec<_> = extensions.iter().filter(|extension| extension["required"] == true).collect();
    assert_eq!(required.len(), 1, "{extensions:?}");
    let uri = required[0]["uri"].as_str().unwrap();
    assert_eq!(uri, "urn:a2a:tck:required-extension");
    let refusal = form.refused("SendMessage", &message("m-1", "hello")).await;
    assert_eq!(refusal, (-32008, "EXTENSION_SUPPORT_REQUIRED".into()));
    let named = [("a2a-extensions", uri)];
    let task = form.client().send(&message("m-2", "hello"), &named).await.unwrap();
    assert_eq!(crate::client::state(&task).as_str_name(), "TASK_STATE_COMPLETED");
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_v03_form_answers_older_clients_in_their_own_shapes() {
    let form = form("v03.toml").await;
    let card = form.card().await;
    assert_eq!(card["protocolVersion"].as_str().unwrap().get(..3), Some("0.3"), "{card}");
    assert!(card["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{card}");
    assert_eq!(form.get("/.well-known/agent.json").await["url"], card["url"]);
    let older = json!({ "message": {
        "kind": "message", "messageId": "tck-artifact-text-1", "role": "user", "parts": [{ "kind": "text", "text": "x" }],
    }});
    let task: Value =
        form.client().call_with("message/send", &older, &[("a2a-version", "0.3")]).await.unwrap();
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")), "{task}");
    let part = json!([{ "kind": "text", "text": "Generated text content" }]);
    assert_eq!(task["artifacts"][0]["parts"], part, "{task}");
    let newer = form.said("tck-complete-task-1", "hello").await;
    assert_eq!(newer["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    form.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_signed_form_signs_its_card_with_keys_of_its_key_set() {
    let form = form("signed.toml").await;
    let card = form.card().await;
    let signatures = card["signatures"].as_array().unwrap();
    assert!(!signatures.is_empty());
    let keys = form.get("/.well-known/jwks.json").await;
    for signature in signatures {
        let protected = BASE64_URL_SAFE_NO_PAD.decode(signature["protected"].as_str().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&protected).unwrap();
        let kid = &header["kid"];
        let known = keys["keys"].as_array().unwrap().iter().any(|key| key["kid"] == *kid);
        assert!(known, "{kid} is in no key set: {keys}");
        assert!(header["jku"].as_str().unwrap().starts_with("http://127.0.0.1:8444/"), "{header}");
    }
    form.stop().await;
}
