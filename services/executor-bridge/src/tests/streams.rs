//! The two streams to the task store: broken, refused, slow.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_a_run_says_while_a_request_is_unanswered_goes_up_together() {
    let world = with_node(|_| {
        let chunks = (0..50).map(|n| (Duration::from_millis(20), step(chunk(&n.to_string()))));
        events(chunks.chain([(Duration::ZERO, end(ok("done")))]).collect())
    });
    world.tasks.store().refuse.extend([Refusal::Unavailable; 4]);
    let shape = world.run("t1").await;
    assert_eq!(shape, format!("W{}aC", "a".repeat(50)));
    let store = world.tasks.store();
    let first = store.numbers[0];
    assert_eq!(store.numbers[..5], [first; 5], "tried again under its number");
    assert!(store.commits[1].progress.len() > 10, "what waited went up together");
}

#[tokio::test(start_paused = true)]
async fn a_broken_append_stream_loses_nothing_and_doubles_nothing() {
    let world = with_node(|_| {
        let chunks = (0..20).map(|n| (Duration::from_millis(50), step(chunk(&n.to_string()))));
        events(chunks.chain([(Duration::ZERO, end(ok("done")))]).collect())
    });
    world.tasks.store().cut_after = Some(3);
    assert_eq!(world.run("t1").await, format!("W{}aC", "a".repeat(20)));
    let store = world.tasks.store();
    let mut numbers = store.numbers.clone();
    numbers.dedup();
    assert!(numbers.len() < store.numbers.len(), "the unanswered request came twice");
    assert!(store.commits.iter().map(|c| c.number).is_sorted(), "numbers grow");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_survives_a_break_too() {
    let world = with_node(|_| result(ok("done")));
    world.tasks.store().cut_after = Some(0);
    assert_eq!(world.run("t1").await, "WaC");
    assert_eq!(world.run("t2").await, "WaC");
    assert_eq!(world.tasks.store().commits.len(), 2);
    world.tasks.until(|store| store.numbers.len() >= 3).await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_run_and_the_call_behind_it() {
    let (dropped, mut gone) = tokio::sync::mpsc::unbounded_channel::<()>();
    let world = with_node(move |_| {
        let held = dropped.clone();
        let body = futures::stream::once(async move {
            let _held = held;
            std::future::pending::<Result<String, std::convert::Infallible>>().await
        });
        sse(axum::body::Body::from_stream(body))
    });
    world.tasks.offer([item("t1")]);
    world.tasks.until(|store| !store.commits.is_empty()).await;
    world.tasks.store().stops.push_back(Stop { task_id: "t1".into(), lease: 1 });
    world.tasks.changed.notify_waiters();
    world.tasks.until(|_| world.metric("weft_bridge_running") == 0.0).await;
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"test.run\",outcome=\"cancelled\"}"), 1.0);
    // Only the handler's own sender is left when the body was dropped: closing it ends the channel.
    world.env.drain(Duration::from_secs(30)).await;
    drop(world);
    assert!(gone.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stale_lease_stops_the_run_and_frees_its_slot() {
    let settings = Settings { slots: 1, ..Settings::default() };
    let node = FakeNode::new("lab", |call| {
        let pause = Duration::from_secs(if call.request.task_id == "t1" { 3_600 } else { 0 });
        events(vec![(Duration::ZERO, step(chunk("x"))), (pause, end(ok("y")))])
    });
    let world = world(settings, hosted(&node));
    world.tasks.store().refuse.push_back(Refusal::StaleLease);
    world.tasks.offer([item("t1"), item("t2")]);
    assert_eq!(world.ended("t2").await, "WaaC");
    assert!(world.tasks.steps("t1").is_empty());
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"test.run\",outcome=\"cancelled\"}"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_breaks_a_rule_fails_the_task_as_the_nodes_fault() {
    let world = with_node(|_| {
        events(vec![(Duration::ZERO, step(chunk("bad"))), (Duration::from_secs(9), end(ok("y")))])
    });
    world.tasks.store().refuse.push_back(Refusal::Invalid);
    assert_eq!(world.run("t1").await, "F");
    assert_eq!(code(&world.tasks.steps("t1")), "INVALID_AGENT_RESPONSE");
}

#[tokio::test(start_paused = true)]
async fn a_long_run_is_heartbeaten_three_times_a_lease() {
    let world = with_node(|_| events(vec![(Duration::from_secs(30), end(ok("y")))]));
    let mut work = item("t1");
    work.lease_ms = 3_000;
    world.tasks.offer([work]);
    assert_eq!(world.ended("t1").await, "WaC");
    let beats = world.tasks.store().heartbeats;
    assert!((20..=32).contains(&beats), "{beats} heartbeats in ten leases");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_lease_ran_out_unheard_is_given_up() {
    let world = with_node(|_| events(vec![(Duration::from_secs(3_600), end(ok("y")))]));
    world.tasks.store().mute = true;
    let mut work = item("t1");
    work.lease_ms = 3_000;
    world.tasks.offer([work]);
    world.tasks.until(|_| world.metric("weft_bridge_running") == 1.0).await;
    let held = tokio::time::Instant::now();
    world.tasks.until(|_| world.metric("weft_bridge_running") == 0.0).await;
    assert!(held.elapsed() < Duration::from_secs(4), "{:?}", held.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_same_lease_is_not_run_twice_and_a_newer_one_replaces_it() {
    let calls = Arc::new(AtomicU32::new(0));
    let seen = calls.clone();
    let world = with_node(move |_| {
        seen.fetch_add(1, Ordering::SeqCst);
        events(vec![(Duration::from_secs(2), end(ok("y")))])
    });
    let mut newer = item("t1");
    (newer.lease, newer.attempt) = (2, 2);
    world.tasks.offer([item("t1"), item("t1")]);
    world.tasks.until(|store| !store.commits.is_empty() && store.queue.is_empty()).await;
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    world.tasks.offer([newer]);
    assert_eq!(world.ended("t1").await, "WWaC");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let leases: Vec<_> = world.tasks.store().commits.iter().map(|commit| commit.lease).collect();
    assert_eq!(*leases.last().unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_node_faster_than_the_store_is_held_back() {
    let settings = Settings { steps_waiting_max: 10, ..Settings::default() };
    let made = Arc::new(AtomicU32::new(0));
    let count = made.clone();
    let node = FakeNode::new("lab", move |_| {
        let count = count.clone();
        let frames = futures::stream::iter(0..1_000).map(move |n| {
            count.fetch_add(1, Ordering::SeqCst);
            let data = weft_proto::json::encode_string(&step(chunk(&n.to_string()))).unwrap();
            Ok::<_, std::convert::Infallible>(format!("data: {data}\n\n"))
        });
        sse(axum::body::Body::from_stream(frames))
    });
    let world = world(settings, hosted(&node));
    world.tasks.store().mute = true;
    world.tasks.offer([item("t1")]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(
        made.load(Ordering::SeqCst) <= 150,
        "{} steps were taken from the node",
        made.load(Ordering::SeqCst)
    );
}
