//! What v0.3 can say survives the way there and back, in both of its forms.

use proptest::prelude::*;
use weft_proto::a2a as v1;
use weft_v03::json::{self, Read, Shown};
use weft_v03::wire::{Downgrade, TryUpgrade, Upgrade, create_push_config};

use super::made::{any_answer, any_event, any_id, any_push_config, any_send, any_task};

fn through_json<T>(message: &T) -> Result<(), TestCaseError>
where
    T: Read + PartialEq + std::fmt::Debug,
    for<'a> Shown<'a, T>: serde::Serialize,
{
    let mut out = Vec::new();
    json::encode(message, &mut out).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
    let text = String::from_utf8(out).expect("JSON is UTF-8");
    let again =
        json::decode::<T>(&text, "it").map_err(|fault| TestCaseError::fail(format!("{fault}: {text}")))?;
    prop_assert_eq!(&again, message, "{}", text);
    Ok(())
}

fn through_wire<T>(message: &T) -> Result<(), TestCaseError>
where
    T: Downgrade<V03: Upgrade<V1 = T>> + Clone + PartialEq + std::fmt::Debug,
{
    prop_assert_eq!(&message.clone().downgrade().upgrade(), message);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_keeps_events(event in any_event(true)) {
        through_json(&event)?;
    }

    #[test]
    fn json_keeps_answers_and_tasks(answer in any_answer(true), task in any_task(true)) {
        through_json(&answer)?;
        through_json(&task)?;
    }

    #[test]
    fn json_keeps_requests(send in any_send(true), push in any_push_config()) {
        through_json(&send)?;
        through_json(&push)?;
        let configs = vec![push.clone(), push];
        through_json(&v1::ListTaskPushNotificationConfigsResponse { configs, next_page_token: String::new() })?;
    }

    #[test]
    fn the_schema_keeps_events_and_answers(event in any_event(false), answer in any_answer(false)) {
        through_wire(&event)?;
        through_wire(&answer)?;
    }

    #[test]
    fn the_schema_keeps_requests(send in any_send(false), push in any_push_config(), id in any_id()) {
        through_wire(&send)?;
        prop_assert_eq!(&push.clone().downgrade().try_upgrade().unwrap(), &push);
        prop_assert_eq!(&create_push_config(push.clone()).try_upgrade().unwrap(), &push);
        let get = v1::GetTaskPushNotificationConfigRequest { tenant: String::new(), task_id: id.clone(), id };
        prop_assert_eq!(&get.clone().downgrade().try_upgrade().unwrap(), &get);
    }
}
