//! Prepared and active, and how long a turn may run.

use std::time::Duration;

use weft_core::Kind;
use weft_proto::a2a::TaskState;
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::claim_event::Event;
use weft_proto::weft::{ClaimRequest, Follow, StatsRequest};
use weft_tasks::Settings;
use weft_tasks::store::simulated::Disk;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn what_a_worker_does_not_begin_on_waits_again_in_its_place_and_counts_no_attempt() {
    let world = simulated(&Settings { prepare_ms: 500, ..settings() }).await;
    let (mut idle, mut busy) = (world.worker(1).await, world.worker(0).await);
    for id in ["m1", "m2"] {
        world.submitted(sends(says(id), Follow::None)).await.unwrap();
    }
    let mut leases = Vec::new();
    // Far more often than a turn may be attempted.
    for _ in 0..10 {
        let item = idle.item().await;
        assert_eq!((item.attempt, item.message.unwrap().message_id.as_str()), (1, "m1"));
        leases.push(item.lease);
        assert!(matches!(idle.event().await, Event::Stop(stop) if stop.lease == item.lease));
        idle.credits.send(ClaimRequest { worker: "w".into(), credit: 1 }).await.unwrap();
    }
    assert!(leases.is_sorted_by(|one, next| one < next));
    let late = idle.item().await;
    assert!(matches!(idle.event().await, Event::Stop(_)));
    busy.credits.send(ClaimRequest { worker: "b".into(), credit: 2 }).await.unwrap();
    let (first, second) = (busy.item().await, busy.item().await);
    assert_eq!(first.message.as_ref().unwrap().message_id, "m1");
    assert_eq!(second.message.as_ref().unwrap().message_id, "m2");
    let stale = idle.append(&late, vec![status(TaskState::Working)]).await;
    assert_eq!(stale.refusal(), Refusal::StaleLease);
    assert!(busy.append(&first, vec![status(TaskState::Completed)]).await.accepted);
}

#[tokio::test(start_paused = true)]
async fn the_first_request_makes_a_lease_active_also_a_heartbeat() {
    let world = simulated(&Settings { prepare_ms: 200, lease_ms: 1_000, ..settings() }).await;
    let mut worker = world.worker(2).await;
    for id in ["m1", "m2"] {
        world.submitted(sends(says(id), Follow::None)).await.unwrap();
    }
    let (one, two) = (worker.item().await, worker.item().await);
    assert_eq!(one.lease_ms, 200);
    worker.append(&one, Vec::new()).await;
    worker.append(&two, vec![status(TaskState::Working)]).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    for item in [&one, &two] {
        assert!(worker.append(item, vec![status(TaskState::Completed)]).await.accepted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_counts_what_was_given_back() {
    let world = simulated(&Settings { prepare_ms: 500, queue_max: 1, ..settings() }).await;
    let mut idle = world.worker(1).await;
    world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    idle.item().await;
    tokio::time::advance(Duration::from_millis(501)).await;
    let refused = world.submitted(sends(says("m2"), Follow::None)).await.unwrap_err();
    assert_eq!(kind(&refused), Kind::Exhausted);
    let stats = world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.queued, stats.leased), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_too_long_fails_and_its_worker_is_stopped() {
    let world = simulated(&Settings { run_ms_max: 5_000, ..settings() }).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    // Heartbeats and progress keep the lease; the turn's time goes on.
    for _ in 0..8 {
        assert!(worker.append(&item, vec![status(TaskState::Working)]).await.accepted);
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    assert!(worker.append(&item, Vec::new()).await.accepted);
    assert!(matches!(worker.event().await, Event::Stop(stop) if stop.lease == item.lease));
    let refused = worker.append(&item, vec![status(TaskState::Completed)]).await;
    assert_eq!(refused.refusal(), Refusal::Terminal);
    let failed = world.get(&task.id).await.unwrap();
    assert_eq!(state(&failed), TaskState::Failed);
    let said = failed.status.unwrap().message.unwrap();
    assert!(format!("{:?}", said.metadata).contains("task_timeout"), "{said:?}");
    let text = format!("{:?}", said.parts);
    assert!(text.contains("5000 ms") && text.contains("tasks.run_ms_max"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn waiting_and_being_parked_do_not_count() {
    let world = simulated(&Settings { run_ms_max: 5_000, ..settings() }).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let mut worker = world.worker(9).await;
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Working)]).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    worker.append(&item, vec![status(TaskState::InputRequired)]).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    // A turn has its own time.
    world.submitted(goes_on(&task, "m2", Follow::None)).await.unwrap();
    let item = worker.item().await;
    for _ in 0..5 {
        worker.append(&item, Vec::new()).await;
        tokio::time::sleep(Duration::from_millis(900)).await;
    }
    assert!(worker.append(&item, vec![status(TaskState::Completed)]).await.accepted);
}

#[tokio::test(start_paused = true)]
async fn a_second_run_of_a_turn_has_what_the_first_left_of_its_time() {
    let disk = Disk::default();
    let patient = Settings { run_ms_max: 5_000, attempts_max: 9, ..settings() };
    let world = on_disk(&disk, &patient, 1).await;
    let mut worker = world.worker(9).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    for _ in 0..3 {
        worker.append(&item, vec![status(TaskState::Working)]).await;
        tokio::time::sleep(Duration::from_millis(900)).await;
    }
    // Not heard of after 1.8 s, it is lost after 2.8 s, which is known after a restart too.
    assert!(matches!(worker.event().await, Event::Stop(_)));
    let item = worker.item().await;
    assert_eq!(item.attempt, 2);
    let disk = disk.crash(0);
    let world = on_disk(&disk, &patient, 2).await;
    let mut worker = world.worker(9).await;
    let item = worker.item().await;
    assert_eq!(item.attempt, 2);
    for _ in 0..2 {
        assert!(worker.append(&item, Vec::new()).await.accepted);
        tokio::time::sleep(Duration::from_millis(900)).await;
    }
    assert!(worker.append(&item, Vec::new()).await.accepted);
    assert!(matches!(worker.event().await, Event::Stop(_)));
    // Told to stop, it hears why when the end is on disk.
    let refused = worker.append(&item, vec![status(TaskState::Completed)]).await;
    assert_eq!(refused.refusal(), Refusal::Terminal);
    assert_eq!(state(&world.get(&task.id).await.unwrap()), TaskState::Failed);
}
