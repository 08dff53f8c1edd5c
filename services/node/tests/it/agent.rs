//! A remote agent that does whatever it is sent, as often as it is sent it: what must not happen twice is counted there.

mod fake;

use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;
use weft_chassis::Env;
use weft_core::manifest::Manifest;
use weft_node::Settings;

use crate::world::{NODE, World, folder};
use fake::Fake;

const SCOPE: &str = "tool:test.ask";
const EVENTS: &str = "text/event-stream";

fn manifest(url: &str, agent: &str) -> Manifest {
    let text = format!(
        "{NODE}[agent]\nurl = \"{url}\"\n{agent}\n[[tool]]\nname = \"test.ask\"\ndescription = \"asks\"\n\
         source = {{ kind = \"a2a\" }}\ntimeout_ms = 30_000\n"
    );
    Manifest::parse("test.toml", &text).unwrap()
}

async fn world_in(folder: TempDir, url: &str, agent: &str) -> World {
    World::with(manifest(url, agent), folder, Env::system(), &Settings::default()).await.unwrap()
}

async fn world(url: &str, agent: &str) -> World {
    world_in(folder(&[]), url, agent).await
}

/// The call of a turn, from 1.
fn call(turn: u32) -> String {
    let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hello" }] });
    json!({ "tool": "test.ask", "message": message, "taskId": "t", "contextId": "c", "attempt": 1,
            "idempotencyKey": format!("t:{turn}") })
    .to_string()
}

/// All that is answered.
async fn answer(world: &World, turn: u32) -> (StatusCode, String) {
    world.send(world.request(&call(turn), SCOPE, EVENTS)).await
}

/// Reads until this was said, then leaves.
async fn left_after(world: &World, word: &str) {
    let request = world.request(&call(1), SCOPE, EVENTS);
    let request = request.map(|body| tonic::body::Body::new(http_body_util::Full::from(body)));
    let mut body = world.peer.clone().oneshot(request).await.unwrap().into_body();
    let mut heard = String::new();
    while !heard.contains(word) {
        let frame = body.frame().await.unwrap_or_else(|| panic!("only {heard}")).unwrap();
        heard.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap_or_default()));
    }
}

#[tokio::test]
async fn a_node_that_starts_again_asks_for_its_task_and_sends_nothing() {
    let fake = Fake::start().await;
    let first = world(&fake.url, "").await;
    left_after(&first, "under way").await;
    let World { folder, .. } = first;
    fake.finish();
    let again = world_in(folder, &fake.url, "").await;
    let (status, said) = answer(&again, 1).await;
    assert_eq!(status, StatusCode::OK);
    assert!(said.contains("TASK_STATE_COMPLETED") && said.contains("done at last"), "{said}");
    assert_eq!(fake.sent(), ["weft-t:1"]);
}

#[tokio::test]
async fn a_lost_answer_is_looked_for_and_the_message_is_not_sent_again() {
    let fake = Fake::start().await;
    fake.lose_answers(1);
    fake.finish();
    let world = world(&fake.url, "").await;
    let (_, said) = answer(&world, 1).await;
    assert!(said.contains("trying again"), "that it was lost is said: {said}");
    assert!(said.contains("TASK_STATE_COMPLETED"), "{said}");
    assert_eq!(fake.sent(), ["weft-t:1"]);
    assert_eq!(fake.count("ListTasks"), 1);
}

#[tokio::test]
async fn an_agent_that_does_not_say_what_became_of_a_message_is_not_sent_it_again() {
    let fake = Fake::start().await;
    fake.lose_answers(1);
    fake.list_nothing();
    let world = world(&fake.url, "").await;
    for _ in 0..2 {
        let (_, said) = answer(&world, 1).await;
        assert!(said.contains("ANSWER_LOST") && said.contains("message weft-t:1"), "{said}");
    }
    assert_eq!(fake.sent(), ["weft-t:1"]);
}

#[tokio::test]
async fn the_next_turn_goes_to_the_agents_own_task() {
    let fake = Fake::start().await;
    fake.ask_back();
    let world = world(&fake.url, "tenant = \"crm\"").await;
    let (_, said) = answer(&world, 1).await;
    assert!(said.contains("TASK_STATE_INPUT_REQUIRED"), "{said}");
    fake.finish();
    let (_, said) = answer(&world, 2).await;
    assert!(said.contains("TASK_STATE_COMPLETED"), "{said}");
    let calls = fake.calls("SendMessage");
    let messages: Vec<&Value> = calls.iter().map(|params| &params["message"]).collect();
    assert_eq!((&messages[0]["taskId"], &messages[0]["contextId"]), (&Value::Null, &Value::Null));
    assert_eq!((&messages[1]["taskId"], &messages[1]["contextId"]), (&json!("far-1"), &json!("far-c")));
    assert_eq!((&calls[0]["tenant"], &calls[1]["tenant"]), (&json!("crm"), &json!("crm")));
}

#[tokio::test]
async fn an_agent_that_is_away_is_no_failure_and_has_heard_of_nothing() {
    let fake = Fake::start().await;
    let (listener, nobody) = weft_chassis::serve::bind("127.0.0.1:0").await.unwrap();
    drop(listener);
    let away = world(&format!("http://{nobody}"), "").await;
    let (status, said) = answer(&away, 1).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "worth another try: {said}");
    assert!(said.contains("AGENT_UNREACHABLE") && !said.contains("127.0.0.1"), "{said}");
    fake.finish();
    let World { folder, .. } = away;
    let there = world_in(folder, &fake.url, "").await;
    assert!(answer(&there, 1).await.1.contains("TASK_STATE_COMPLETED"));
}

#[tokio::test]
async fn a_task_stays_with_the_agent_that_has_it() {
    let fake = Fake::start().await;
    let first = world(&fake.url, "").await;
    left_after(&first, "under way").await;
    let World { folder, .. } = first;
    let other = Fake::start().await;
    let changed = world_in(folder, &other.url, "").await;
    let (_, said) = answer(&changed, 1).await;
    assert!(said.contains("AGENT_CHANGED") && said.contains("far-1"), "{said}");
    assert!(other.sent().is_empty(), "nobody else does it in its place");
}

#[tokio::test]
async fn what_is_canceled_is_canceled_at_the_agent() {
    let fake = Fake::start().await;
    let world = world(&fake.url, "").await;
    left_after(&world, "under way").await;
    let body = call(1);
    let astray = world.request(&body, SCOPE, "application/json");
    let (parts, text) = astray.into_parts();
    let mut astray = http::Request::from_parts(parts, text);
    *astray.uri_mut() = "http://test/peer/cancel".parse().unwrap();
    assert_eq!(world.send(astray).await.0, StatusCode::UNAUTHORIZED, "a seal holds for one route");
    assert_eq!(fake.count("CancelTask"), 0);
    let hop = [("weft-depth", "1")];
    let request = world.request_at("/peer/cancel", &body, SCOPE, "application/json", &hop);
    let (status, said) = world.send(request).await;
    assert_eq!((status, said.contains("\"ok\":true")), (StatusCode::OK, true), "{said}");
    let canceled = fake.until("CancelTask");
    let canceled = tokio::time::timeout(Duration::from_secs(30), canceled).await.unwrap();
    assert_eq!(canceled["id"], "far-1");
}

#[tokio::test]
async fn a_card_may_send_callers_only_where_an_operator_said() {
    let fake = Fake::start().await;
    fake.finish();
    fake.point_to("localhost");
    let world = world(&fake.url, "").await;
    let (_, said) = answer(&world, 1).await;
    assert!(said.contains("AGENT_UNUSABLE") && said.contains("agent.origins"), "{said}");
    assert!(fake.sent().is_empty());
    let elsewhere = fake.url.replace("127.0.0.1", "localhost");
    let allowed = self::world(&fake.url, &format!("origins = [\"{elsewhere}\"]")).await;
    let (_, said) = answer(&allowed, 1).await;
    assert!(said.contains("TASK_STATE_COMPLETED"), "{said}");
}

#[tokio::test]
async fn a_call_without_a_message_is_refused_and_a_bad_key_is_found_when_the_node_opens() {
    let fake = Fake::start().await;
    let world = world(&fake.url, "").await;
    let result = world.call("test.ask", json!({})).await;
    assert_eq!((result.ok, result.code.as_str()), (false, "INVALID_ARGUMENTS"), "{result:?}");
    let bad = manifest(&fake.url, "card_keys = ['{\"kty\":\"RSA\",\"n\":\"AQAB\"}']");
    let refused = World::with(bad, folder(&[]), Env::system(), &Settings::default()).await;
    let text = refused.err().unwrap().to_string();
    assert!(text.contains("`agent.card_keys`") && text.contains("Ed25519"), "{text}");
}
