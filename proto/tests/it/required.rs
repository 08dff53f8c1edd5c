//! REQUIRED fields that a message does not have.

use weft_proto::a2a::{
    AgentCard, ListTasksResponse, Message, SendMessageRequest, StreamResponse, TaskPushNotificationConfig,
};
use weft_proto::weft::SubmitRequest;
use weft_proto::{Required, json};

fn missing<T: Required + serde::de::DeserializeOwned>(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    json::decode::<T>(text.as_bytes()).expect("well-formed").missing(&mut out);
    out
}

#[test]
fn a_whole_message_misses_nothing() {
    let text = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":""}]},"configuration":{"taskPushNotificationConfig":{"url":"https://h/"}}}"#;
    assert_eq!(missing::<SendMessageRequest>(text), [""; 0]);
}

#[test]
fn absent_messages_empty_strings_and_lists_and_unspecified_enums_are_missing() {
    assert_eq!(missing::<SendMessageRequest>("{}"), ["message"]);
    assert_eq!(
        missing::<SendMessageRequest>(r#"{"message":{}}"#),
        ["message.messageId", "message.role", "message.parts"]
    );
    assert_eq!(
        missing::<Message>(r#"{"messageId":"m","role":"ROLE_UNSPECIFIED","parts":[]}"#),
        ["role", "parts"]
    );
    assert_eq!(missing::<TaskPushNotificationConfig>("{}"), ["url"]);
}

#[test]
fn messages_inside_lists_oneofs_and_maps_are_looked_at() {
    let event = r#"{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[{"messageId":"m","role":1,"parts":[{}]},{"role":2,"parts":[{}]}]}}"#;
    assert_eq!(missing::<StreamResponse>(event), ["task.history[1].messageId"]);
    let card = r#"{"name":"n","description":"d","version":"1","supportedInterfaces":[{"url":"u","protocolBinding":"GRPC"}],
        "capabilities":{},"defaultInputModes":["a"],"defaultOutputModes":["a"],
        "skills":[{"id":"i","name":"n","description":"d"}],
        "securitySchemes":{"key":{"apiKeySecurityScheme":{"name":"k"}}}}"#;
    let expected = [
        "supportedInterfaces[0].protocolVersion",
        "securitySchemes.key.apiKeySecurityScheme.location",
        "skills[0].tags",
    ];
    assert_eq!(missing::<AgentCard>(card), expected);
    assert_eq!(
        missing::<SubmitRequest>(r#"{"request":{"message":{"messageId":"m","role":1}}}"#),
        ["request.message.parts"]
    );
}

#[test]
fn numbers_and_maps_are_never_missing() {
    assert_eq!(missing::<ListTasksResponse>("{}"), ["tasks", "nextPageToken"]);
    let flow = r#"{"tokenUrl":"https://h/"}"#;
    assert_eq!(missing::<weft_proto::a2a::ClientCredentialsOAuthFlow>(flow), [""; 0]);
}
