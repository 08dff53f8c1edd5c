//! Races: many at once, on real threads.

use std::sync::Arc;

use weft_core::Kind;
use weft_proto::a2a::TaskState;
use weft_proto::weft::{Follow, SubmitRequest};
use weft_tasks::Settings;
use weft_tasks::store::Store;

use crate::world::*;

fn patient() -> Settings {
    Settings { lease_ms: 60_000, ..settings() }
}

async fn one_task_of_twenty<S: Store>(world: World<S>) {
    let world = Arc::new(world);
    for round in 0..10 {
        let keyed = SubmitRequest { idempotency_key: format!("k{round}"), ..sends(says("m"), Follow::None) };
        let runs = (0..20).map(|_| {
            let (world, keyed) = (world.clone(), keyed.clone());
            tokio::spawn(async move { world.submitted(keyed).await.unwrap().id })
        });
        let mut ids: Vec<_> = futures::future::join_all(runs).await.into_iter().map(Result::unwrap).collect();
        ids.dedup();
        assert_eq!(ids.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_at_once_under_one_key_make_one_task() {
    one_task_of_twenty(simulated(&patient()).await).await;
    let dir = tempfile::tempdir().unwrap();
    one_task_of_twenty(embedded(dir.path(), &patient()).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_races_the_end_leaves_one_terminal_state_for_all_to_see() {
    let dir = tempfile::tempdir().unwrap();
    let world = Arc::new(embedded(dir.path(), &patient()).await);
    let mut worker = world.worker(100).await;
    let mut ends = Vec::new();
    for n in 0..50 {
        let events = world.submit(sends(says(&format!("m{n}")), Follow::Events)).await.unwrap();
        let item = worker.item().await;
        let cancel = {
            let (world, id) = (world.clone(), item.task_id.clone());
            tokio::spawn(async move { world.cancel(&id).await })
        };
        let done = worker.append(&item, vec![status(TaskState::Completed)]).await;
        let canceled = cancel.await.unwrap();
        assert_ne!(done.accepted, canceled.is_ok(), "one of the two wins");
        let (read, error) = rest(events).await;
        assert!(error.is_none());
        let terminal: Vec<_> =
            read.iter().filter_map(state_of).filter(|s| weft_core::task::is_terminal(*s)).collect();
        let expected = if done.accepted { TaskState::Completed } else { TaskState::Canceled };
        assert_eq!(terminal, [expected]);
        assert_eq!(state(&world.get(&item.task_id).await.unwrap()), expected);
        ends.push(expected);
        // The stop notice, when the cancel won.
        if expected == TaskState::Canceled {
            worker.event().await;
        }
    }
    assert_eq!(ends.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_subscriptions_around_the_end_all_see_it_or_are_refused() {
    let world = Arc::new(simulated(&Settings { readers_max: 100, ..patient() }).await);
    let worker = world.worker(100).await;
    tokio::spawn(worker.complete_all());
    let runs = (0..1_000u32).map(|n| {
        let world = world.clone();
        tokio::spawn(async move {
            let task = world.submitted(sends(says(&format!("m{n}")), Follow::None)).await.unwrap();
            for _ in 0..n % 17 {
                tokio::task::yield_now().await;
            }
            match world.subscribe(&task.id, None).await {
                Err(status) => assert_eq!(kind(&status), Kind::UnsupportedOperation),
                Ok(events) => {
                    let (read, error) = rest(events).await;
                    assert!(error.is_none(), "{error:?}");
                    assert_eq!(read.last().and_then(state_of), Some(TaskState::Completed));
                }
            }
            let now = world.get(&task.id).await.unwrap();
            assert_eq!((state(&now), now.artifacts.len()), (TaskState::Completed, 1));
        })
    });
    for run in futures::future::join_all(runs).await {
        run.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reader_has_seen_a_get_is_never_older_than() {
    let dir = tempfile::tempdir().unwrap();
    let world = embedded(dir.path(), &patient()).await;
    let worker = world.worker(100).await;
    tokio::spawn(worker.complete_all());
    for n in 0..100 {
        let mut events = world.submit(sends(says(&format!("m{n}")), Follow::Events)).await.unwrap();
        let task = task_of(&events.message().await.unwrap().unwrap());
        while let Some(event) = events.message().await.unwrap() {
            let now = world.get(&task.id).await.unwrap();
            assert!(state_of(&event) != Some(TaskState::Completed) || state(&now) == TaskState::Completed);
        }
    }
}
