//! A mock agent over the wire: steps as they come, on the clock.

use http::StatusCode;
use serde_json::{Value, json};
use weft_chassis::Env;
use weft_core::manifest::Manifest;
use weft_node::Settings;

use crate::world::{World, folder, manifest};

async fn world(rules: &str) -> World {
    let text = format!("{}{rules}", manifest("{ kind = \"scenario\" }", "timeout_ms = 60_000"));
    let manifest = Manifest::parse("test.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    World::with(manifest, folder(&[]), Env::simulated(1), &Settings::default()).await.unwrap()
}

fn call(parts: &Value, task: &str, key: &str, attempt: u32) -> String {
    json!({
        "tool": "test.rows",
        "message": { "messageId": format!("m-{key}"), "role": "ROLE_USER", "parts": parts },
        "taskId": task, "contextId": "c", "idempotencyKey": key, "attempt": attempt,
    })
    .to_string()
}

async fn events(world: &World, body: &str) -> Vec<Value> {
    let (status, body) = world.send(world.request(body, "tool:test.rows", "text/event-stream")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

async fn said(world: &World, text: &str) -> Vec<Value> {
    events(world, &call(&json!([{ "text": text }]), "t", text, 1)).await
}

const RULES: &str = r#"
[[scenario.rule]]
name = "id"
when = { message_id_prefix = "m-special" }
[[scenario.rule.step]]
answer = "by id"
[[scenario.rule]]
name = "retry"
when = { text_equals = "retry", attempt = 1 }
[[scenario.rule.step]]
drop = true
[[scenario.rule]]
name = "second"
when = { turn = 2 }
[[scenario.rule.step]]
answer = "second turn"
[[scenario.rule]]
name = "data"
when = { data_field = "case", data_equals = 7 }
[[scenario.rule.step]]
answer = { seven = true, said = "{text}" }
[[scenario.rule]]
name = "chunks"
when = { text_prefix = "CHUNKS" }
[[scenario.rule.step]]
artifact = { name = "story", text = "part {n} of {text}", chunked = true }
repeat = 3
delay_ms = 5_000
[[scenario.rule.step]]
artifact = { echo = true }
[[scenario.rule.step]]
status = "completed"
text = "done"
[[scenario.rule]]
name = "slow"
when = { text_contains = "slow" }
[[scenario.rule.step]]
status = "working"
delay_ms = 50_000
repeat = 2
[[scenario.rule]]
name = "fail"
when = { text_equals = "fail" }
[[scenario.rule.step]]
fail = { code = "SOURCE_UNAVAILABLE", text = "as asked" }
"#;

#[tokio::test(start_paused = true)]
async fn the_first_rule_whose_conditions_hold_is_played() {
    let world = world(RULES).await;
    let answer = |events: &[Value]| events.last().unwrap()["result"]["result"].clone();
    assert_eq!(answer(&events(&world, &call(&json!([{"text": "fail"}]), "a", "special", 1)).await), "by id");
    let seven = call(&json!([{"data": {"case": 7}}, {"text": "x"}]), "b", "k", 1);
    assert_eq!(answer(&events(&world, &seven).await), json!({"seven": true, "said": "x"}));
    let next = call(&json!([{"text": "fail"}]), "b", "k2", 1);
    assert_eq!(answer(&events(&world, &next).await), "second turn");
    assert_eq!(answer(&events(&world, &next).await), "second turn", "a try of the same work is no new turn");
    let failed = &said(&world, "fail").await[0]["result"];
    assert_eq!((failed["code"].clone(), failed["ok"].clone()), (json!("SOURCE_UNAVAILABLE"), Value::Null));
    assert_eq!(
        events(&world, &call(&json!([{"text": "nothing"}]), "z", "z", 1)).await[0]["result"]["code"],
        "NO_RULE"
    );
}

#[tokio::test(start_paused = true)]
async fn chunks_follow_one_another_into_one_artifact_and_the_result_comes_last() {
    let world = world(RULES).await;
    let begun = tokio::time::Instant::now();
    let events = said(&world, "chunks now").await;
    assert_eq!(begun.elapsed().as_secs(), 15);
    let chunks: Vec<_> = events[..3].iter().map(|event| &event["progress"]["artifact"]).collect();
    let flags: Vec<_> = chunks.iter().map(|c| (c["append"] == true, c["lastChunk"] == true)).collect();
    assert_eq!(flags, [(false, false), (true, false), (true, true)]);
    assert!(chunks.iter().all(|chunk| chunk["artifact"]["artifactId"] == "artifact-1"));
    assert_eq!(chunks[1]["artifact"]["parts"][0]["text"], "part 2 of chunks now");
    let echo = &events[3]["progress"]["artifact"]["artifact"];
    assert_eq!(
        (echo["artifactId"].clone(), echo["parts"][0]["text"].clone()),
        (json!("artifact-2"), json!("chunks now"))
    );
    let status = &events[4]["progress"]["status"];
    assert_eq!(status["state"], "TASK_STATE_COMPLETED");
    assert_eq!(status["message"]["messageId"], "m-chunks now-reply-1");
    assert_eq!(events[5]["result"], json!({"ok": true}));
    assert_eq!(events.len(), 6);
}

#[tokio::test(start_paused = true)]
async fn chunks_of_their_own_texts_go_into_the_artifact_before_them() {
    let world = world(
        r#"
[[scenario.rule]]
name = "chunks"
[[scenario.rule.step]]
artifact = { name = "story", text = "one ", more = true }
[[scenario.rule.step]]
artifact = { text = "two", append = true }
[[scenario.rule.step]]
artifact = { text = "other" }
[[scenario.rule.step]]
artifact = { id = "never-begun", text = "late", append = true }
"#,
    )
    .await;
    let chunks: Vec<_> =
        said(&world, "x").await.iter().map(|event| event["progress"]["artifact"].clone()).collect();
    let told = |at: usize| {
        let chunk: &Value = &chunks[at];
        let id = chunk["artifact"]["artifactId"].as_str().unwrap().to_owned();
        (id, chunk["append"] == true, chunk["lastChunk"] == true)
    };
    assert_eq!(told(0), ("artifact-1".into(), false, false));
    assert_eq!(told(1), ("artifact-1".into(), true, true));
    assert_eq!(told(2), ("artifact-2".into(), false, true));
    assert_eq!(told(3), ("never-begun".into(), true, true));
}

#[tokio::test(start_paused = true)]
async fn a_rule_may_answer_with_a_message_instead_of_a_task() {
    let world = world(
        r#"
[[scenario.rule]]
name = "direct"
[[scenario.rule.step]]
message = { text = "said: {text}", parts = [{ data = { n = 1 } }] }
"#,
    )
    .await;
    let events = said(&world, "hello").await;
    let message = &events[0]["progress"]["message"];
    assert_eq!(message["messageId"], "m-hello-reply-1");
    assert_eq!((&message["role"], &message["contextId"]), (&json!("ROLE_AGENT"), &json!("c")));
    assert_eq!(message["parts"], json!([{ "text": "said: hello" }, { "data": { "n": 1 } }]));
    assert_eq!(events[1..], [json!({ "result": { "ok": true } })]);
}

#[tokio::test(start_paused = true)]
async fn a_prefix_is_looked_for_in_the_message_id_and_in_the_text_of_the_first_part() {
    let world = world(
        r#"
[[scenario.rule]]
name = "longer"
when = { prefix = "m-case-one" }
[[scenario.rule.step]]
answer = "longer"
[[scenario.rule]]
name = "shorter"
when = { prefix = "m-case" }
[[scenario.rule.step]]
answer = "shorter"
[[scenario.rule]]
name = "rest"
[[scenario.rule.step]]
answer = "rest"
"#,
    )
    .await;
    let answer = async |parts: Value, key: &str| {
        events(&world, &call(&parts, "t", key, 1)).await[0]["result"]["result"].clone()
    };
    assert_eq!(answer(json!([{ "text": "x" }]), "case-one-7").await, "longer");
    assert_eq!(answer(json!([{ "text": "x" }]), "case-two").await, "shorter");
    assert_eq!(answer(json!([{ "text": " m-case-one" }]), "k").await, "longer");
    assert_eq!(answer(json!([{ "text": "x" }, { "text": "m-case" }]), "k").await, "rest");
    assert_eq!(answer(json!([{ "data": {} }, { "text": "m-case" }]), "k").await, "rest");
    assert_eq!(answer(json!([{ "text": "M-CASE" }]), "k").await, "rest");
}

#[tokio::test(start_paused = true)]
async fn the_same_message_is_answered_the_same_again() {
    let world = world(RULES).await;
    assert_eq!(said(&world, "chunks").await, said(&world, "chunks").await);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_breaks_ends_without_a_result_and_the_next_try_succeeds_by_another_rule() {
    let world = world(&format!(
        "{RULES}[[scenario.rule]]\nname = \"rest\"\n[[scenario.rule.step]]\nanswer = \"ok\"\n"
    ))
    .await;
    assert_eq!(events(&world, &call(&json!([{"text": "retry"}]), "t", "k", 1)).await, Vec::<Value>::new());
    let body = call(&json!([{"text": "retry"}]), "t", "k", 1);
    let (status, _) = world.send(world.request(&body, "tool:test.rows", "application/json")).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    let again = events(&world, &call(&json!([{"text": "retry"}]), "t", "k", 2)).await;
    assert_eq!(again[0]["result"]["result"], "ok");
}

#[tokio::test(start_paused = true)]
async fn a_play_longer_than_the_tools_time_ends_with_a_timeout() {
    let world = world(RULES).await;
    let events = said(&world, "a slow one").await;
    assert_eq!(events.len(), 2, "one step within the minute: {events:?}");
    assert_eq!(events[1]["result"]["code"], "TIMEOUT");
}
