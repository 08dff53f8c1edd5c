//! What is peculiar to v0.3 over HTTP: bodies are ProtoJSON of [`wire`](crate::wire), with these exceptions.

use serde::Serialize;
use weft_core::Fault;
use weft_proto::a2a::{AgentCard, SendMessageRequest, TaskPushNotificationConfig};
use weft_proto::{a2a_v03 as v03, json};

use crate::fault;
use crate::wire::{Downgrade, Upgrade};

/// Reads the body of `message:send` and `message:stream`.
///
/// # Errors
/// `Invalid`, naming the member; `body` stands for the whole.
pub fn send(body: &[u8]) -> Result<SendMessageRequest, Fault> {
    Ok(decode::<v03::SendMessageRequest>(body)?.upgrade())
}

/// Reads the body that sets a push configuration of the task in the path. The schema has the configuration for a body,
/// the official clients send the whole request; both are read. Names in it are not looked at: the path says the task.
///
/// # Errors
/// `Invalid`, naming the member; `body` stands for the whole.
pub fn push_config(body: &[u8], task_id: &str) -> Result<TaskPushNotificationConfig, Fault> {
    let whole: v03::CreateTaskPushNotificationConfigRequest = decode(body)?;
    let config = match whole.config {
        Some(config) => config,
        None => decode(body)?,
    };
    let config = config.push_notification_config.unwrap_or_default().upgrade();
    let id = if config.id.is_empty() { whole.config_id } else { config.id };
    Ok(TaskPushNotificationConfig { task_id: task_id.to_owned(), id, ..config })
}

/// Writes an answer or event behind what is in `out`.
///
/// # Errors
/// `Internal` when it holds what JSON cannot say.
pub fn encode<T: Downgrade<V03: Serialize>>(message: T, out: &mut Vec<u8>) -> Result<(), Fault> {
    written(&message.downgrade(), out)
}

/// Writes the card: v0.3 has it in the form of [`card`](crate::card) here too.
///
/// # Errors
/// `Internal` when it holds what JSON cannot say.
pub fn card(card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Fault> {
    written(&crate::card::write(card)?, out)
}

/// The body of an error. v0.3 names none: this has what its servers send, code, name and message, and the details of
/// v1.0 beside them.
pub fn error<D: Serialize>(fault: &Fault, details: &[D]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a, D> {
        code: i32,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
        message: &'a str,
        data: &'a [D],
    }
    let body = |data| Body {
        code: fault::code(fault.kind),
        name: fault::name(fault.kind),
        message: &fault.message,
        data,
    };
    serde_json::to_vec(&body(details)).or_else(|_| serde_json::to_vec(&body(&[]))).unwrap_or_default()
}

fn decode<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    json::decode(body).map_err(|fault| {
        let field = if fault.path.is_empty() { "body".to_owned() } else { fault.path };
        Fault::invalid(field, fault.reason)
    })
}

fn written<T: Serialize>(message: &T, out: &mut Vec<u8>) -> Result<(), Fault> {
    serde_json::to_writer(out, message)
        .map_err(|error| Fault::internal(format!("cannot write the answer as JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use weft_core::Kind;

    use super::*;

    #[test]
    fn a_push_configuration_is_read_alone_and_in_its_request() {
        let inner = r#"{"name":"tasks/t/pushNotificationConfigs/None","pushNotificationConfig":{"url":"https://h/","token":"k"}}"#;
        let whole = format!(r#"{{"parent":"tasks/other","configId":"c","config":{inner}}}"#);
        let config = |id: &str| TaskPushNotificationConfig {
            id: id.into(),
            task_id: "t".into(),
            url: "https://h/".into(),
            token: "k".into(),
            ..TaskPushNotificationConfig::default()
        };
        assert_eq!(push_config(inner.as_bytes(), "t").unwrap(), config(""));
        assert_eq!(push_config(whole.as_bytes(), "t").unwrap(), config("c"));
        let fault = push_config(br#"{"config":{"pushNotificationConfig":{"url":1}}}"#, "t").unwrap_err();
        assert_eq!(fault.violations[0].field, "config.pushNotificationConfig.url");
        assert_eq!(push_config(b"", "t").unwrap_err().violations[0].field, "body");
    }

    #[test]
    fn an_error_names_itself_by_code_and_by_name() {
        let body = error(
            &Fault::new(Kind::TaskNotFound, "task not found: t"),
            &[serde_json::json!({"reason": "R"})],
        );
        let expected = r#"{"code":-32001,"type":"TaskNotFoundError","message":"task not found: t","data":[{"reason":"R"}]}"#;
        assert_eq!(String::from_utf8(body).unwrap(), expected);
        let body = error::<()>(&Fault::new(Kind::Exhausted, "later"), &[]);
        assert_eq!(String::from_utf8(body).unwrap(), r#"{"code":-32055,"message":"later","data":[]}"#);
    }
}
