//! Sending and waiting.

use std::time::Duration;

use serde_json::json;
use weft_client::{Call, Outcome, Why};
use weft_proto::a2a::TaskState;

use crate::world::{End, Fake, answer, event, message, refusal, result, sse, status, task};

const V1: [(&str, &str); 1] = [("JSONRPC", "1.0")];
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_message_is_waited_for_until_its_task_has_ended() {
    let fake = Fake::start(&V1, |seen, _| match seen.body["method"].as_str().unwrap() {
        "SendMessage" => result(&json!({ "task": task("SUBMITTED") })),
        "SubscribeToTask" => sse(
            vec![event("1", &json!({ "task": task("WORKING") })), event("2", &status("COMPLETED"))],
            End::Open,
        ),
        "GetTask" => result(&task("COMPLETED")),
        other => panic!("{other}"),
    })
    .await;
    let outcome = fake.agent().await.wait(message("x"), &Call::default(), LONG).await.unwrap();
    assert!(
        matches!(outcome, Outcome::Task(task) if task.status.as_ref().unwrap().state() == TaskState::Completed)
    );
    assert_eq!(fake.calls()[0].body["params"]["configuration"]["returnImmediately"], true);
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_only_under_a_key() {
    let fake = Fake::start(&V1, |_, n| match n {
        0 | 2 => answer(503, "text/plain", "down"),
        _ => result(&json!({ "task": task("REJECTED") })),
    })
    .await;
    let agent = fake.agent().await;
    let keyed = Call { idempotency_key: Some("k".into()), ..Call::default() };
    assert!(agent.wait(message("x"), &keyed, LONG).await.is_ok());
    assert!(fake.calls().iter().all(|seen| seen.headers["idempotency-key"] == "k"));
    assert_eq!(fake.calls().len(), 2);
    let error = agent.wait(message("x"), &Call::default(), LONG).await.unwrap_err();
    assert!(matches!(error.why, Why::Refused(_)));
    assert_eq!(fake.calls().len(), 3, "without a key nothing is sent twice");
}

#[tokio::test]
async fn patience_ends_with_the_name_of_the_task() {
    let fake = Fake::start(&V1, |seen, _| match seen.body["method"].as_str().unwrap() {
        "SendMessage" => {
            let mut sent = result(&json!({ "task": task("SUBMITTED") }));
            sent.headers_mut().insert("task-access-token", "for-t1".parse().unwrap());
            sent
        }
        "GetTask" => result(&task("WORKING")),
        _ => refusal(-32004, "no streams"),
    })
    .await;
    let agent = fake.agent().await;
    let error = agent.wait(message("x"), &Call::default(), Duration::from_millis(200)).await.unwrap_err();
    assert!(matches!(error.why, Why::TimedOut(_)), "{error:?}");
    assert_eq!(error.trail.task_id.as_deref(), Some("t1"));
    assert_eq!(error.trail.access_token.as_deref(), Some("for-t1"));
    let later: Vec<_> = fake.calls().into_iter().skip(1).collect();
    assert!(later.iter().all(|seen| seen.headers["task-access-token"] == "for-t1"), "the token goes along");
    let error = agent.wait_for("t1", &Call::default(), Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.trail.task_id.as_deref(), Some("t1"));
}
