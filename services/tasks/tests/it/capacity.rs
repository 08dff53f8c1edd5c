//! What an owner may keep: the oldest that ended makes room, all active is refused, counters survive.

use std::time::Duration;

use weft_core::Kind;
use weft_proto::a2a::TaskState;
use weft_proto::weft::{ClaimRequest, Follow, Quota, StatsRequest, SubmitRequest};
use weft_tasks::Settings;
use weft_tasks::store::simulated::Disk;

use crate::world::*;

fn of(owner: &str, id: &str) -> SubmitRequest {
    SubmitRequest { owner: owner.into(), start: Some(parked()), ..sends(says(id), Follow::None) }
}

fn within(request: SubmitRequest, quota: Quota) -> SubmitRequest {
    SubmitRequest { quota: Some(quota), ..request }
}

async fn cancel(world: &World, owner: &str, task: &str) {
    let request =
        weft_proto::weft::CancelRequest { owner: owner.into(), task_id: task.into(), metadata: None };
    world.client.clone().cancel(request).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn at_its_limit_the_oldest_ended_task_of_an_owner_goes_and_active_ones_stay() {
    let world = simulated(&settings()).await;
    let quota = Quota { tasks_max: 3, ..Quota::default() };
    let mut made = Vec::new();
    for (owner, id) in [("crm/p:ci", "m1"), ("p:ci", "m2"), ("p:ci", "m3")] {
        made.push((owner, world.submitted(within(of(owner, id), quota)).await.unwrap().id));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = world.submitted(within(of("p:ci", "m4"), quota)).await.unwrap_err();
    let fault = weft_chassis::status::fault(&refused);
    assert_eq!((fault.kind, fault.retry_after_ms.is_some()), (Kind::Exhausted, true));
    assert!(
        fault.message.contains("3 tasks") && fault.message.contains("none has ended"),
        "{}",
        fault.message
    );
    // The third ends first, then the first: that is the order in which they go.
    for at in [2, 0] {
        cancel(&world, made[at].0, &made[at].1).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for (gone, id) in [(2, "m5"), (0, "m6")] {
        world.submitted(within(of("p:ci", id), quota)).await.unwrap();
        let (owner, task) = &made[gone];
        assert_eq!(kind(&world.get_as(owner, task).await.unwrap_err()), Kind::TaskNotFound);
    }
    assert!(world.get_as("p:ci", &made[1].1).await.is_ok());
    assert_eq!(kind(&world.submitted(within(of("p:ci", "m7"), quota)).await.unwrap_err()), Kind::Exhausted);
    // It is this owner's limit alone.
    world.submitted(within(of("p:ci2", "m8"), quota)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn making_room_costs_no_further_sync() {
    let disk = Disk::default();
    let world = on_disk(&disk, &settings(), 1).await;
    let quota = Quota { tasks_max: 1, ..Quota::default() };
    let first = world.submitted(within(of("p:ci", "m1"), quota)).await.unwrap();
    cancel(&world, "p:ci", &first.id).await;
    let before = disk.syncs();
    world.submitted(within(of("p:ci", "m2"), quota)).await.unwrap();
    assert_eq!(disk.syncs() - before, 1);
}

#[tokio::test(start_paused = true)]
async fn owners_without_credentials_have_limits_of_their_own() {
    let small = Settings { anonymous_tasks_max: 1, anonymous_keep_hours: 1, keep_hours: 3, ..settings() };
    let world = simulated(&small).await;
    let mut ended = Vec::new();
    for owner in ["anon:x", "crm/anon:y", "p:ci"] {
        let task = world.submitted(of(owner, "m1")).await.unwrap();
        assert_eq!(world.submitted(of(owner, "m2")).await.is_ok(), owner == "p:ci", "{owner}");
        cancel(&world, owner, &task.id).await;
        ended.push((owner, task.id));
    }
    tokio::time::sleep(Duration::from_secs(3_600 + 120)).await;
    for (owner, task) in &ended {
        assert_eq!(world.get_as(owner, task).await.is_ok(), *owner == "p:ci", "{owner}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_says_how_long_its_tasks_are_kept() {
    let world = simulated(&Settings { keep_hours: 10, ..settings() }).await;
    let hour = Quota { keep_hours: 1, ..Quota::default() };
    let short = world.submitted(within(of("local", "m1"), hour)).await.unwrap();
    let long = world.submitted(of("local", "m2")).await.unwrap();
    for task in [&short, &long] {
        world.cancel(&task.id).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(3_600 + 120)).await;
    assert!(world.get(&short.id).await.is_err() && world.get(&long.id).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_context_that_holds_as_many_messages_as_it_may_says_to_start_another() {
    let world = simulated(&settings()).await;
    let quota = Quota { context_turns_max: 2, ..Quota::default() };
    let task = world.submitted(within(of("p:ci", "m1"), quota)).await.unwrap();
    let go_on = |id: &str| {
        let request = SubmitRequest { owner: "p:ci".into(), ..goes_on(&task, id, Follow::None) };
        within(SubmitRequest { start: Some(parked()), ..request }, quota)
    };
    world.submitted(go_on("m2")).await.unwrap();
    let mut fresh = of("p:ci", "m4");
    fresh.request.as_mut().unwrap().message.as_mut().unwrap().context_id = task.context_id.clone();
    for refused in [go_on("m3"), within(fresh.clone(), quota)] {
        let refused = world.submitted(refused).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
        let fault = weft_chassis::status::fault(&refused);
        assert_eq!(fault.metadata["limit"], "CONTEXT_TURNS_EXHAUSTED");
        assert!(fault.message.contains("start another context"), "{}", fault.message);
    }
    // What was sent before is still known, and another context is free.
    assert_eq!(world.submitted(go_on("m2")).await.unwrap().id, task.id);
    world.submitted(within(of("p:ci", "m5"), quota)).await.unwrap();
    // The same id is another context for another owner.
    fresh.owner = "p:other".into();
    world.submitted(within(fresh, quota)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_over_is_ended_before_anybody_is_refused() {
    let small = Settings { run_ms_max: 5_000, lease_ms: 60_000, owner_tasks_max: 1, ..settings() };
    let world = simulated(&small).await;
    let mut worker = world.worker(1).await;
    let first = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Working)]).await;
    assert_eq!(kind(&world.submitted(sends(says("m2"), Follow::None)).await.unwrap_err()), Kind::Exhausted);
    // The time is over and nobody was given a chance to look at it.
    tokio::time::advance(Duration::from_millis(5_001)).await;
    world.submitted(sends(says("m3"), Follow::None)).await.unwrap();
    assert_eq!(kind(&world.get(&first.id).await.unwrap_err()), Kind::TaskNotFound);
}

#[tokio::test(start_paused = true)]
async fn counters_survive_every_power_cut() {
    for seed in 0..12u64 {
        let disk = Disk::default();
        let world = std::sync::Arc::new(on_disk(&disk, &settings(), seed).await);
        let quota = Quota { tasks_max: 4, context_turns_max: 1_000, ..Quota::default() };
        tokio::spawn(world.worker(20).await.complete_all());
        for client in 0..6 {
            let world = world.clone();
            tokio::spawn(async move {
                for n in 0.. {
                    let owner = ["p:ci", "crm/p:ci", "p:other"][client % 3];
                    let mut request = sends(says(&format!("{client}-{n}")), Follow::Result);
                    request.request.as_mut().unwrap().message.as_mut().unwrap().context_id = "c".into();
                    let request = within(SubmitRequest { owner: owner.into(), ..request }, quota);
                    if world.submit(request).await.is_err() && world.env.stop().is_cancelled() {
                        return;
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
        tokio::time::sleep(Duration::from_micros(30_000 + seed * 1_117)).await;
        let after = disk.crash(seed as usize % (disk.unsynced() + 1));
        world.env.stop().cancel();
        assert_eq!(after.check().problems, Vec::<String>::new(), "seed {seed}");
        let world = on_disk(&after, &settings(), 1_000 + seed).await;
        let stats = world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner();
        assert!(stats.tasks > 0 && stats.tasks <= 8, "seed {seed}: {} tasks", stats.tasks);
        // What was left is counted: the owner gets no more than it may.
        tokio::spawn(world.worker(20).await.complete_all());
        tokio::time::sleep(Duration::from_secs(5)).await;
        for n in 0..6 {
            let request =
                within(SubmitRequest { owner: "p:ci".into(), ..of("p:ci", &format!("n{n}")) }, quota);
            assert_eq!(world.submitted(request).await.is_ok(), n < 4, "seed {seed}, task {n}");
        }
        assert_eq!(after.check().problems, Vec::<String>::new(), "seed {seed}");
        world.env.stop().cancel();
    }
}

#[tokio::test(start_paused = true)]
async fn credit_of_none_keeps_what_was_prepared() {
    let world = simulated(&Settings { prepare_ms: 1_000, lease_ms: 2_000, ..settings() }).await;
    let mut worker = world.worker(1).await;
    world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        worker.credits.send(ClaimRequest { worker: "w".into(), credit: 0 }).await.unwrap();
    }
    assert!(worker.append(&item, vec![status(TaskState::Completed)]).await.accepted);
}
