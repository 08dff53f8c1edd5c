//! Health: what reports say, what differs, what silence means.

use std::time::Duration;

use tonic::Code;
use weft_proto::weft::ReportRequest;
use weft_proto::weft::health::State;

use crate::world::{World, next, node, of, state};

fn world() -> World {
    World::open(&[("a.toml", &node("a", "one")), ("b.toml", &node("b", "one"))])
}

#[tokio::test(start_paused = true)]
async fn a_report_makes_a_node_up_and_the_revision_stays() {
    let world = world();
    let mut reader = world.watch().await;
    let first = next(&mut reader).await;
    assert_eq!(world.report("a", &["a.rows"]).await, Vec::<String>::new());
    let second = next(&mut reader).await;
    assert_eq!((state(&second, "a"), state(&second, "b")), (Some(State::Up), None));
    assert_eq!(second.revision, first.revision, "health is no change of the declarations");
    assert!(of(&second, "a").agent_backed);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_serves_other_tools_than_declared_differs_and_says_which() {
    let world = world();
    let differences = world.report("a", &["a.other"]).await;
    assert_eq!(
        differences,
        [
            "tool a.other of node a: in the running node, not in the manifest",
            "tool a.rows of node a: in the manifest, not in the running node",
        ]
    );
    let snapshot = world.handle.snapshot();
    assert_eq!(state(&snapshot, "a"), Some(State::Differs));
    assert!(of(&snapshot, "a").health.as_ref().unwrap().detail.contains("a.other"));
    world.report("a", &["a.rows"]).await;
    assert_eq!(state(&world.handle.snapshot(), "a"), Some(State::Up));
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_the_manifest_is_judged_against_the_last_report() {
    let world = world();
    world.report("a", &["a.rows"]).await;
    world.write("a.toml", &node("a", "one").replace("a.rows", "a.lines"));
    assert!(world.handle.reload().unwrap());
    assert_eq!(state(&world.handle.snapshot(), "a"), Some(State::Differs));
}

#[tokio::test(start_paused = true)]
async fn silence_makes_a_node_unreachable_and_a_report_brings_it_back() {
    let world = world();
    world.report("a", &["a.rows"]).await;
    let mut reader = world.watch().await;
    assert_eq!(state(&next(&mut reader).await, "a"), Some(State::Up));
    let begun = tokio::time::Instant::now();
    let silent = next(&mut reader).await;
    assert_eq!(state(&silent, "a"), Some(State::Unreachable));
    assert!(begun.elapsed() >= Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(of(&silent, "a").health.as_ref().unwrap().detail.contains("nothing was heard"));
    world.report("a", &["a.rows"]).await;
    assert_eq!(state(&next(&mut reader).await, "a"), Some(State::Up));
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_that_says_nothing_new_wakes_nobody_until_it_matters() {
    let world = world();
    let mut reader = world.watch().await;
    next(&mut reader).await;
    world.report("a", &["a.rows"]).await;
    let up = next(&mut reader).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    world.report("a", &["a.rows"]).await;
    tokio::time::advance(Duration::from_secs(4)).await;
    world.report("a", &["a.rows"]).await;
    let later = next(&mut reader).await;
    let seen = |s: &weft_proto::weft::Snapshot| of(s, "a").health.as_ref().unwrap().seen.unwrap().as_millis();
    assert_eq!(seen(&later) - seen(&up), 6_000, "the report after 2 s was no news");
}

#[tokio::test(start_paused = true)]
async fn a_report_of_a_node_that_nobody_declared_is_refused() {
    let request = ReportRequest { node: "c".into(), ..ReportRequest::default() };
    let refused = world().catalog.report(request).await.unwrap_err();
    assert_eq!((refused.code(), refused.message()), (Code::NotFound, "no manifest declares a node `c`"));
}
