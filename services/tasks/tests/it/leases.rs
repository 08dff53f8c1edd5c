//! Work out: credit, leases, attempts, restarts, and what goes when it is old.

use std::time::Duration;

use weft_proto::a2a::TaskState;
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::claim_event::Event;
use weft_proto::weft::{ClaimRequest, Follow, StatsRequest, SubmitRequest};
use weft_tasks::Settings;
use weft_tasks::store::simulated::Disk;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn a_worker_gets_as_many_tasks_as_it_asked_for_in_the_order_in_which_they_came() {
    let world = simulated(&settings()).await;
    for id in ["m1", "m2", "m3"] {
        world.submitted(sends(says(id), Follow::None)).await.unwrap();
    }
    let mut worker = world.worker(2).await;
    let given = [worker.item().await, worker.item().await];
    assert_eq!(given.map(|item| item.message.unwrap().message_id), ["m1", "m2"]);
    let soon = tokio::time::timeout(Duration::from_millis(100), worker.event()).await;
    assert!(soon.is_err(), "no credit, no task");
    worker.credits.send(ClaimRequest { worker: "w".into(), credit: 1 }).await.unwrap();
    assert_eq!(worker.item().await.message.unwrap().message_id, "m3");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_runs_out_gives_the_task_to_another_and_shuts_the_first_out() {
    let world = simulated(&settings()).await;
    let (mut lost, mut next) = (world.worker(1).await, world.worker(0).await);
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let first = lost.item().await;
    lost.append(&first, vec![status(TaskState::Working)]).await;
    next.credits.send(ClaimRequest { worker: "n".into(), credit: 1 }).await.unwrap();
    // Nothing is heard of the first; time passes.
    let second = next.item().await;
    assert_eq!((second.task_id.as_str(), second.attempt), (task.id.as_str(), 2));
    assert!(second.lease > first.lease);
    assert_eq!(second.idempotency_key, first.idempotency_key);
    assert!(matches!(lost.event().await, Event::Stop(stop) if stop.lease == first.lease));
    let stale = lost.append(&first, vec![status(TaskState::Completed)]).await;
    assert_eq!((stale.accepted, stale.refusal()), (false, Refusal::StaleLease));
    assert!(next.append(&second, vec![status(TaskState::Completed)]).await.accepted);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_keep_a_lease_alive() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(2).await;
    world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert!(worker.append(&item, Vec::new()).await.accepted);
    }
    assert!(worker.append(&item, vec![status(TaskState::Completed)]).await.accepted);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_no_worker_finishes_fails_with_the_reason() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(100).await;
    let events = world.submit(sends(says("m1"), Follow::Events)).await.unwrap();
    for attempt in 1..=3 {
        let item = worker.item().await;
        assert_eq!(item.attempt, attempt);
        assert!(worker.append(&item, Vec::new()).await.accepted);
        assert!(matches!(worker.event().await, Event::Stop(_)));
    }
    let (read, error) = rest(events).await;
    assert!(error.is_none());
    let task = folded(&read);
    let reason = format!("{:?}", task.status.as_ref().unwrap().message);
    assert_eq!(state(&task), TaskState::Failed);
    assert!(reason.contains("3 attempts") && reason.contains("not heard of"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_resent_request_that_was_committed_is_accepted_and_changes_nothing() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    let end = || vec![chunk("a", "x", false), status(TaskState::Completed)];
    assert!(worker.append_as(7, &item, end()).await.accepted);
    let before = world.get(&task.id).await.unwrap();
    assert!(worker.append_as(7, &item, end()).await.accepted);
    assert_eq!(worker.append_as(8, &item, end()).await.refusal(), Refusal::Terminal);
    assert_eq!(world.get(&task.id).await.unwrap(), before);
}

#[tokio::test(start_paused = true)]
async fn steps_are_taken_all_or_none() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    let before = world.get(&task.id).await.unwrap();
    let bad = worker.append(&item, vec![chunk("a", "x", false), status(TaskState::Submitted)]).await;
    assert_eq!(bad.refusal(), Refusal::Invalid);
    assert!(bad.message.contains("progress[1].status.state"), "{}", bad.message);
    assert_eq!(world.get(&task.id).await.unwrap(), before);
    assert!(worker.append(&item, vec![status(TaskState::Completed)]).await.accepted);
}

#[tokio::test(start_paused = true)]
async fn a_restart_takes_up_what_was_under_way() {
    let disk = Disk::default();
    let world = on_disk(&disk, &settings(), 1).await;
    let mut worker = world.worker(2).await;
    let mut tasks = Vec::new();
    for id in ["running", "given", "waiting", "done"] {
        tasks.push(world.submitted(sends(says(id), Follow::None)).await.unwrap());
    }
    let parked = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("p"), Follow::None) })
        .await
        .unwrap();
    let (running, _given) = (worker.item().await, worker.item().await);
    worker.append(&running, vec![status(TaskState::Working), chunk("a", "half", false)]).await;
    world.cancel(&tasks[3].id).await.unwrap();
    let disk = disk.crash(0);

    let world = on_disk(&disk, &settings(), 2).await;
    let stats = world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.tasks, stats.queued, stats.leased), (5, 3, 0));
    let mut worker = world.worker(9).await;
    // The lease of the former life opens nothing.
    let stale = worker.append_as(99, &running, vec![status(TaskState::Completed)]).await;
    assert_eq!(stale.refusal(), Refusal::StaleLease);
    let mut items = [worker.item().await, worker.item().await, worker.item().await];
    items.sort_by_key(|item| item.message.as_ref().unwrap().message_id.clone());
    let seen: Vec<_> =
        items.iter().map(|i| (i.message.as_ref().unwrap().message_id.as_str(), i.attempt)).collect();
    assert_eq!(seen, [("given", 1), ("running", 2), ("waiting", 1)]);
    assert!(items.iter().all(|item| item.lease > running.lease));
    assert_eq!(state(&world.get(&parked.id).await.unwrap()), TaskState::InputRequired);
    let again = items.iter().find(|item| item.attempt == 2).unwrap();
    worker.append(again, vec![chunk("a", "whole", false), status(TaskState::Completed)]).await;
    assert_eq!(world.get(&tasks[0].id).await.unwrap().artifacts[0].parts, [text("whole")]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ends_its_process_each_time_fails_at_last() {
    let mut disk = Disk::default();
    let mut task = None;
    for life in 1..=3 {
        let world = on_disk(&disk, &settings(), life).await;
        let mut worker = world.worker(1).await;
        if life == 1 {
            task = Some(world.submitted(sends(says("m1"), Follow::None)).await.unwrap().id);
        }
        let item = worker.item().await;
        assert_eq!(u64::from(item.attempt), life);
        worker.append(&item, vec![status(TaskState::Working)]).await;
        disk = disk.crash(0);
    }
    let world = on_disk(&disk, &settings(), 4).await;
    let task = world.get(&task.unwrap()).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn ended_tasks_go_when_they_are_old_and_waiting_ones_stay() {
    let world = simulated(&Settings { keep_hours: 1, ..settings() }).await;
    let keyed = SubmitRequest { idempotency_key: "k".into(), ..sends(says("m1"), Follow::None) };
    let ended = world.submitted(keyed.clone()).await.unwrap();
    world.cancel(&ended.id).await.unwrap();
    let waits = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("m2"), Follow::None) })
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(3_500)).await;
    assert!(world.get(&ended.id).await.is_ok());
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(world.get(&ended.id).await.is_err());
    assert!(world.get(&waits.id).await.is_ok());
    // Its key is free again.
    assert_ne!(world.submitted(keyed).await.unwrap().id, ended.id);
}

#[tokio::test(start_paused = true)]
async fn above_the_number_that_is_kept_the_oldest_ended_tasks_go() {
    let world = simulated(&Settings { keep_tasks: 3, ..settings() }).await;
    let mut ids = Vec::new();
    for n in 0..6 {
        let task = world.submitted(sends(says(&format!("m{n}")), Follow::None)).await.unwrap();
        if n != 0 {
            world.cancel(&task.id).await.unwrap();
        }
        ids.push(task.id);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_secs(120)).await;
    let mut left = Vec::new();
    for (n, id) in ids.iter().enumerate() {
        if world.get(id).await.is_ok() {
            left.push(n);
        }
    }
    assert_eq!(left, [0, 4, 5]);
}
