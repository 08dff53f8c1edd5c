//! Nothing panics, whatever is read.

use proptest::prelude::*;
use weft_proto::a2a as v1;
use weft_proto::{a2a_v03 as v03, wkt};
use weft_v03::jsonrpc::Method;
use weft_v03::wire::{TryUpgrade, Upgrade};
use weft_v03::{card, fault, json, rest};

use super::made::any_value;

fn everything_reads(text: &str) {
    for method in Method::ALL {
        let _ = method.read(text);
    }
    let _ = json::decode::<v1::StreamResponse>(text, "it");
    let _ = json::decode::<v1::SendMessageResponse>(text, "it");
    let _ = json::decode::<v1::ListTaskPushNotificationConfigsResponse>(text, "it");
    let _ = rest::send(text.as_bytes());
    let _ = rest::push_config(text.as_bytes(), "t");
    if let Ok(object) = serde_json::from_str(text) {
        let _ = card::read(object).map(|card| card::write(&card));
    }
    if let Ok(error) = serde_json::from_str::<fault::ErrorObject>(text) {
        let _ = error.into_fault();
    }
}

/// Objects that have the names of v0.3 with anything behind them.
fn nearly() -> impl Strategy<Value = wkt::Value> {
    const NAMES: [&str; 30] = [
        "kind",
        "id",
        "contextId",
        "status",
        "state",
        "message",
        "messageId",
        "parts",
        "role",
        "text",
        "file",
        "bytes",
        "uri",
        "data",
        "metadata",
        "artifact",
        "artifacts",
        "history",
        "taskId",
        "configuration",
        "blocking",
        "pushNotificationConfig",
        "authentication",
        "schemes",
        "securitySchemes",
        "security",
        "skills",
        "flows",
        "type",
        "capabilities",
    ];
    let kinds = prop::sample::select(vec![
        "task",
        "message",
        "status-update",
        "text",
        "file",
        "data",
        "oauth2",
        "apiKey",
    ]);
    let leaf = prop_oneof![any_value(), kinds.prop_map(wkt::Value::from)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..5);
        prop_oneof![
            members.prop_map(|members| wkt::Value::from(members.into_iter().collect::<wkt::Struct>())),
            prop::collection::vec(inner, 0..3).prop_map(wkt::Value::from),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,64}") {
        everything_reads(&text);
    }

    #[test]
    fn any_json(value in any_value()) {
        everything_reads(&serde_json::to_string(&value).expect("finite numbers"));
    }

    #[test]
    fn almost_the_right_json(value in nearly()) {
        everything_reads(&serde_json::to_string(&value).expect("finite numbers"));
    }

    #[test]
    fn any_bytes_of_the_schema(bytes in prop::collection::vec(any::<u8>(), 0..128)) {
        use prost::Message;
        let _ = v03::SendMessageRequest::decode(bytes.as_slice()).map(Upgrade::upgrade);
        let _ = v03::StreamResponse::decode(bytes.as_slice()).map(Upgrade::upgrade);
        let _ = v03::AgentCard::decode(bytes.as_slice()).map(Upgrade::upgrade);
        let _ = v03::CreateTaskPushNotificationConfigRequest::decode(bytes.as_slice()).map(TryUpgrade::try_upgrade);
    }

    #[test]
    fn any_path_is_renamed(path in "[a-z.\\[\\]0-9]{0,24}") {
        for form in [fault::Form::Json, fault::Form::Wire] {
            let _ = form.fault(weft_core::Fault::invalid(path.clone(), "x"));
        }
    }
}
