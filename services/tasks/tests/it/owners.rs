//! What belongs to an owner: sessions, conversations, all of it shown and all of it removed, also across power cuts.

use std::sync::Arc;
use std::time::Duration;

use weft_core::Kind;
use weft_proto::a2a::{TaskPushNotificationConfig, TaskState};
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::claim_event::Event;
use weft_proto::weft::{
    Conversation, ConversationRequest, ConversationsRequest, ExportedTask, Follow, ForgetOwnerResponse,
    OwnerRequest, StatsRequest, SubmitRequest,
};
use weft_tasks::Settings;
use weft_tasks::store::simulated::Disk;

use crate::world::*;

fn of(owner: &str, id: &str) -> SubmitRequest {
    SubmitRequest { owner: owner.into(), ..sends(says(id), Follow::None) }
}

fn patient() -> Settings {
    Settings { lease_ms: 60_000, prepare_ms: 60_000, ..settings() }
}

async fn converse(
    world: &World,
    owner: &str,
    peer: &str,
    renew: bool,
) -> Result<Conversation, tonic::Status> {
    let request = ConversationRequest { owner: owner.into(), peer: peer.into(), renew };
    let answer = world.owners.clone().conversation(request).await?;
    Ok(answer.into_inner().conversation.unwrap())
}

async fn conversations(world: &World, owner: &str) -> Vec<Conversation> {
    let request = ConversationsRequest { owner: owner.into() };
    world.owners.clone().conversations(request).await.unwrap().into_inner().conversations
}

async fn exported(world: &World, owner: &str) -> Vec<ExportedTask> {
    let request = OwnerRequest { owner: owner.into() };
    let mut tasks = world.owners.clone().export(request).await.unwrap().into_inner();
    let mut read = Vec::new();
    while let Some(task) = tasks.message().await.unwrap() {
        read.push(task);
    }
    read
}

async fn forget(world: &World, owner: &str) -> Result<ForgetOwnerResponse, tonic::Status> {
    let request = OwnerRequest { owner: owner.into() };
    world.owners.clone().forget(request).await.map(tonic::Response::into_inner)
}

#[tokio::test(start_paused = true)]
async fn the_next_run_in_a_context_is_given_what_the_last_one_left() {
    let disk = Disk::default();
    let world = on_disk(&disk, &patient(), 1).await;
    let mut worker = world.worker(9).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let first = worker.item().await;
    assert_eq!(first.session, "");
    for (text, progress, refusal) in [
        ("x".repeat(4_097), vec![status(TaskState::Working)], Refusal::Invalid),
        ("x".into(), Vec::new(), Refusal::Invalid),
    ] {
        assert_eq!(worker.leave(&first, progress, &text).await.refusal(), refusal);
    }
    assert!(worker.leave(&first, vec![status(TaskState::Working)], "one").await.accepted);
    assert!(worker.leave(&first, vec![status(TaskState::InputRequired)], "two").await.accepted);
    // A turn that leaves nothing leaves it as it is; and so does a power cut.
    world.submitted(goes_on(&task, "m2", Follow::None)).await.unwrap();
    let second = worker.item().await;
    assert_eq!(second.session, "two");
    assert!(worker.append(&second, vec![status(TaskState::Completed)]).await.accepted);
    let world = on_disk(&disk.crash(0), &patient(), 2).await;
    let mut worker = world.worker(9).await;
    let within = |owner: &str, context: &str, capability: &str| {
        let mut request = of(owner, "m3");
        request.start = Some(route(capability));
        request.request.as_mut().unwrap().message.as_mut().unwrap().context_id = context.into();
        request
    };
    let context = task.context_id.as_str();
    for (owner, context, capability, session) in [
        ("local", context, "sector.movement", "two"),
        ("local", context, "another", ""),
        ("local", "another", "sector.movement", ""),
        ("p:ci", context, "sector.movement", ""),
        ("crm/local", context, "sector.movement", ""),
    ] {
        world.submitted(within(owner, context, capability)).await.unwrap();
        let item = worker.item().await;
        assert_eq!(item.session, session, "{owner} {context} {capability}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_lasts_until_it_is_renewed_also_across_a_power_cut() {
    let disk = Disk::default();
    let world = on_disk(&disk, &Settings { conversations_max: 2, ..patient() }, 1).await;
    let first = converse(&world, "p:ci", "hermes", false).await.unwrap();
    assert_eq!(converse(&world, "p:ci", "hermes", false).await.unwrap(), first);
    let renewed = converse(&world, "p:ci", "hermes", true).await.unwrap();
    assert_ne!(renewed.context_id, first.context_id);
    let foreign = converse(&world, "p:other", "hermes", false).await.unwrap();
    assert_ne!(foreign.context_id, renewed.context_id);
    let world = on_disk(&disk.crash(0), &Settings { conversations_max: 2, ..patient() }, 2).await;
    assert_eq!(converse(&world, "p:ci", "hermes", false).await.unwrap(), renewed);
    let athena = converse(&world, "p:ci", "athena", true).await.unwrap();
    assert_eq!(conversations(&world, "p:ci").await, [athena, renewed]);
    assert_eq!(conversations(&world, "p:other").await, [foreign]);
    let refused = converse(&world, "p:ci", "third", false).await.unwrap_err();
    assert!(refused.message().contains("tasks.conversations_max"), "{refused:?}");
    for bad in ["", &"x".repeat(257)] {
        assert_eq!(field(&converse(&world, "p:ci", bad, false).await.unwrap_err()), "peer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_who_begin_a_conversation_at_once_hear_of_the_same() {
    let world = Arc::new(simulated(&patient()).await);
    let begun = (0..20).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { converse(&world, "p:ci", "hermes", false).await.unwrap().context_id })
    });
    let mut contexts: Vec<_> =
        futures::future::join_all(begun).await.into_iter().map(Result::unwrap).collect();
    contexts.dedup();
    assert_eq!(contexts.len(), 1);
}

/// Tasks of `p:ci` in several states and tenants, and what of it another owner has too.
async fn settled_in(world: &World) -> Vec<(String, String)> {
    let mut worker = world.worker(2).await;
    let mut made = Vec::new();
    for (owner, id) in [("p:ci", "done"), ("crm/p:ci", "runs"), ("erp/p:ci", "waits")] {
        let keyed = SubmitRequest { idempotency_key: "k".into(), ..of(owner, id) };
        made.push((owner.to_owned(), world.submitted(keyed).await.unwrap().id));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let parks = SubmitRequest { start: Some(parked()), ..of("p:ci", "parked") };
    made.push(("p:ci".into(), world.submitted(parks).await.unwrap().id));
    let (done, runs) = (worker.item().await, worker.item().await);
    worker.leave(&done, vec![chunk("a", "x", false), status(TaskState::Completed)], "s").await;
    worker.append(&runs, vec![status(TaskState::Working)]).await;
    world
        .set_as(
            "p:ci",
            TaskPushNotificationConfig {
                task_id: made[0].1.clone(),
                url: "https://93.184.215.14/hook".into(),
                ..Default::default()
            },
        )
        .await
        .unwrap();
    for owner in ["p:ci", "crm/p:ci", "p:other"] {
        converse(world, owner, "hermes", false).await.unwrap();
    }
    let keyed = SubmitRequest { idempotency_key: "k".into(), ..of("p:other", "m") };
    world.submitted(keyed).await.unwrap();
    made
}

#[tokio::test(start_paused = true)]
async fn an_export_has_every_task_of_the_owner_in_every_tenant_and_nobody_elses() {
    let world = simulated(&patient()).await;
    let made = settled_in(&world).await;
    let all = exported(&world, "p:ci").await;
    let found: Vec<_> = all
        .iter()
        .map(|exported| {
            let task = exported.task.as_ref().unwrap();
            let slash = if exported.tenant.is_empty() { "" } else { "/" };
            (format!("{}{slash}p:ci", exported.tenant), task.id.clone())
        })
        .collect();
    assert_eq!(found, made);
    let done = all[0].task.as_ref().unwrap();
    assert_eq!((done.history.len(), done.artifacts.len(), state(done)), (1, 1, TaskState::Completed));
    assert!(exported(&world, "p:c").await.is_empty());
    let refused = world.owners.clone().export(OwnerRequest { owner: "crm/p:ci".into() }).await.unwrap_err();
    assert_eq!(field(&refused), "owner");
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_owner_leaves_nothing_and_its_workers_and_readers_are_told() {
    let disk = Disk::default();
    let world = on_disk(&disk, &patient(), 1).await;
    let made = settled_in(&world).await;
    let mut worker = world.worker(9).await;
    let taken = worker.item().await;
    assert_eq!(taken.owner, "erp/p:ci");
    let request = weft_proto::weft::SubscribeRequest {
        owner: "crm/p:ci".into(),
        task_id: made[1].1.clone(),
        after: None,
    };
    let follows = world.client.clone().subscribe(request).await.unwrap().into_inner();
    let gone = forget(&world, "p:ci").await.unwrap();
    assert_eq!((gone.tasks, gone.conversations), (4, 2));
    let (read, _) = rest(follows).await;
    assert_eq!(state_of(read.last().unwrap()), Some(TaskState::Canceled));
    let stopped = loop {
        match worker.event().await {
            Event::Stop(stop) => break stop,
            Event::Item(item) => assert_eq!(item.owner, "p:other"),
        }
    };
    assert_eq!(stopped.lease, taken.lease);
    for (owner, task) in &made {
        assert_eq!(kind(&world.get_as(owner, task).await.unwrap_err()), Kind::TaskNotFound);
    }
    assert!(exported(&world, "p:ci").await.is_empty() && conversations(&world, "p:ci").await.is_empty());
    // Nothing of it is left on disk, but of the other.
    let after = disk.crash(0);
    assert_eq!(after.check().problems, Vec::<String>::new());
    assert_eq!((after.keys_with("p:ci"), after.keys_with("p:other") > 5), (0, true));
    assert_eq!(exported(&world, "p:other").await.len(), 1);
    // It may begin anew, under its old keys.
    let keyed = SubmitRequest { idempotency_key: "k".into(), ..of("p:ci", "again") };
    assert_ne!(world.submitted(keyed).await.unwrap().id, made[0].1);
    assert_eq!(forget(&world, "p:nobody").await.unwrap(), ForgetOwnerResponse::default());
}

#[tokio::test(start_paused = true)]
async fn a_power_cut_while_an_owner_is_forgotten_is_made_good_at_the_next_start() {
    let mut cut_in_between = 0;
    for cut in 0..24u64 {
        let disk = Disk::default();
        let world = Arc::new(on_disk(&disk, &patient(), 1).await);
        let made = settled_in(&world).await;
        let forgets = {
            let world = world.clone();
            tokio::spawn(async move { forget(&world, "p:ci").await })
        };
        tokio::time::sleep(Duration::from_micros(250 * cut)).await;
        let answered = forgets.is_finished();
        let after = disk.crash(cut as usize % (disk.unsynced() + 1));
        let marked = after.keys_with_prefix(b"z") > 0;
        let left = after.keys_with("p:ci");
        cut_in_between += usize::from(marked && left > 0);
        world.env.stop().cancel();
        let world = on_disk(&after, &patient(), 2).await;
        if marked || answered {
            assert_eq!(after.keys_with("p:ci"), 0, "cut {cut}");
            for (owner, task) in &made {
                assert!(world.get_as(owner, task).await.is_err(), "cut {cut}");
            }
            world.submitted(of("p:ci", "again")).await.unwrap();
        } else {
            assert!(exported(&world, "p:ci").await.len() == 4 || left == 0, "cut {cut}");
        }
        assert_eq!(exported(&world, "p:other").await.len(), 1);
        assert_eq!(after.check().problems, Vec::<String>::new(), "cut {cut}");
        let stats = world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner();
        assert!(stats.tasks >= 1);
        world.env.stop().cancel();
    }
    assert!(cut_in_between >= 3, "{cut_in_between} cuts fell into the work");
}
