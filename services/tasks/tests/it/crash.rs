//! The simulated store: the contract, and what a power cut leaves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weft_chassis::Env;
use weft_core::Kind;
use weft_proto::a2a::TaskState;
use weft_proto::weft::{Follow, SubmitRequest};
use weft_tasks::store::simulated::{self, Disk};
use weft_tasks::{Meter, Settings};

use crate::contract::contract;
use crate::world::*;

mod honours {
    use super::*;

    contract!(async {
        let env = Env::simulated(1);
        let meter = Meter::new(env.metrics());
        (simulated::open(&Disk::default(), Duration::ZERO, &Settings::default(), &env, meter).unwrap(), env)
    });
}

/// What clients were told: task to the last state and the key it was sent under.
type Told = Arc<Mutex<HashMap<String, (TaskState, String)>>>;

/// Clients that submit and read, a worker that answers, all until the power goes.
async fn under_load(world: &Arc<World>, told: &Told) {
    let worker = world.worker(20).await;
    tokio::spawn(worker.complete_all());
    for client in 0..8 {
        let (world, told) = (world.clone(), told.clone());
        tokio::spawn(async move {
            for n in 0.. {
                let key = format!("{client}-{n}");
                let request =
                    SubmitRequest { idempotency_key: key.clone(), ..sends(says(&key), Follow::Events) };
                let Ok(mut events) = world.submit(request).await else { return };
                let Ok(Some(first)) = events.message().await else { return };
                let task = task_of(&first).id;
                told.lock().unwrap().insert(task.clone(), (TaskState::Submitted, key.clone()));
                loop {
                    match events.message().await {
                        Ok(Some(event)) => {
                            if let Some(state) = state_of(&event) {
                                told.lock().unwrap().insert(task.clone(), (state, key.clone()));
                            }
                        }
                        Ok(None) => break,
                        Err(_) => return,
                    }
                }
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_was_told_survives_every_power_cut() {
    let mut unsynced_at_cut = 0;
    let mut checked = 0;
    for seed in 0..24u64 {
        let disk = Disk::default();
        let told = Told::default();
        let world = Arc::new(on_disk(&disk, &patient(), seed).await);
        under_load(&world, &told).await;
        // Odd times, so that cuts fall between a write and its sync too.
        tokio::time::sleep(Duration::from_micros(10_000 + seed * 1_337)).await;
        let unsynced = disk.unsynced();
        unsynced_at_cut += unsynced;
        let after = disk.crash(seed as usize % (unsynced + 1));
        let promised = told.lock().unwrap().clone();
        world.env.stop().cancel();

        assert_eq!(after.check().problems, Vec::<String>::new(), "seed {seed}");
        let world = on_disk(&after, &patient(), 1_000 + seed).await;
        for (task, (told, key)) in promised {
            let now = world.get(&task).await.unwrap();
            assert!(told != TaskState::Completed || state(&now) == TaskState::Completed, "seed {seed}");
            let again = SubmitRequest { idempotency_key: key.clone(), ..sends(says(&key), Follow::None) };
            assert_eq!(world.submitted(again).await.unwrap().id, task, "seed {seed}");
            checked += 1;
        }
        // What was under way ends.
        let worker = world.worker(20).await;
        tokio::spawn(worker.complete_all());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let stats = world.client.clone().stats(weft_proto::weft::StatsRequest {}).await.unwrap().into_inner();
        assert_eq!((stats.queued, stats.leased), (0, 0), "seed {seed}");
        assert_eq!(after.check().problems, Vec::<String>::new(), "seed {seed}");
        world.env.stop().cancel();
    }
    assert!(unsynced_at_cut > 10 && checked > 200, "{unsynced_at_cut} groups cut, {checked} tasks checked");
}

fn patient() -> Settings {
    Settings { lease_ms: 60_000, ..settings() }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_does_not_sync_acknowledges_nothing_and_ends_the_service() {
    let disk = Disk::default();
    let world = on_disk(&disk, &patient(), 1).await;
    let kept = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let follows = world.subscribe(&kept.id, None).await.unwrap();
    assert!(!world.handle.failed().is_cancelled());
    disk.fail();
    let refused = world.submitted(sends(says("m2"), Follow::None)).await.unwrap_err();
    assert_eq!(kind(&refused), Kind::Unavailable);
    world.handle.failed().cancelled().await;
    assert_eq!(kind(&world.submitted(sends(says("m3"), Follow::None)).await.unwrap_err()), Kind::Unavailable);
    assert_eq!(kind(&rest(follows).await.1.unwrap()), Kind::Unavailable);
    let world = on_disk(&disk.crash(0), &patient(), 2).await;
    let stats = world.client.clone().stats(weft_proto::weft::StatsRequest {}).await.unwrap().into_inner();
    assert_eq!(stats.tasks, 1);
    assert!(world.get(&kept.id).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn commits_that_wait_share_a_sync() {
    let disk = Disk::default();
    let world = on_disk(&disk, &patient(), 1).await;
    let before = disk.syncs();
    let sent = (0..200).map(|n| world.submitted(sends(says(&format!("m{n}")), Follow::None)));
    assert!(futures::future::join_all(sent).await.iter().all(Result::is_ok));
    assert!(disk.syncs() - before < 20, "{} syncs", disk.syncs() - before);
}

#[tokio::test(start_paused = true)]
async fn a_closed_store_has_written_what_it_accepted() {
    let disk = Disk::default();
    let world = on_disk(&disk, &patient(), 1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let World { client, handle, .. } = world;
    handle.close().await;
    assert_eq!(disk.unsynced(), 0);
    let refused = client.clone().submit(sends(says("m2"), Follow::None)).await.unwrap_err();
    assert_eq!(kind(&refused), Kind::Unavailable);
    assert!(on_disk(&disk.crash(0), &patient(), 2).await.get(&task.id).await.is_ok());
}
