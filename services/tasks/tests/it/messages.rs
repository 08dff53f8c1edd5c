//! Runs that answer with a message instead of a task.

use std::time::Duration;

use weft_core::Kind;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{ListTasksRequest, Message, Task, TaskState};
use weft_proto::weft::{Follow, ListRequest, SubmitRequest, TaskEvent, WorkItem};
use weft_tasks::Settings;
use weft_tasks::store::simulated::Disk;

use crate::pushes::{config, inline};
use crate::world::*;

fn message_of(event: &TaskEvent) -> Message {
    match &event.body.as_ref().unwrap().payload {
        Some(Payload::Message(message)) => message.clone(),
        other => panic!("not a message: {other:?}"),
    }
}

fn keyed(follow: Follow) -> SubmitRequest {
    SubmitRequest { idempotency_key: "k".into(), ..sends(says("m1"), follow) }
}

fn held() -> SubmitRequest {
    SubmitRequest { hold: true, ..sends(says("m1"), Follow::Events) }
}

async fn listed(world: &World) -> (Vec<Task>, i32) {
    let request = ListRequest { owner: "local".into(), request: Some(ListTasksRequest::default()) };
    let page = world.client.clone().list(request).await.unwrap().into_inner();
    (page.tasks, page.total_size)
}

/// Sends, and lets the work come to a worker.
async fn begun(
    world: &World,
    request: SubmitRequest,
) -> (tokio::task::JoinHandle<Vec<TaskEvent>>, Worker, WorkItem) {
    let mut worker = world.worker(1).await;
    let mut client = world.client.clone();
    let reading = tokio::spawn(async move {
        let (events, ended) = rest(client.submit(request).await.unwrap().into_inner()).await;
        assert!(ended.is_none(), "{ended:?}");
        events
    });
    let item = worker.item().await;
    (reading, worker, item)
}

/// The task ended with the message as its status.
async fn is_completed_with(world: &World, task: &str, id: &str) {
    let status = world.get(task).await.unwrap().status.unwrap();
    assert_eq!((status.state(), status.message.unwrap().message_id.as_str()), (TaskState::Completed, id));
}

#[tokio::test(start_paused = true)]
async fn a_message_answers_whoever_waits_and_there_is_no_task() {
    let disk = Disk::default();
    let world = on_disk(&disk, &Settings { keep_hours: 1, ..settings() }, 1).await;
    let (reading, mut worker, item) = begun(&world, keyed(Follow::Result)).await;
    // A worker that says no more than that it works has said nothing.
    assert!(worker.append(&item, vec![status(TaskState::Working)]).await.accepted);
    assert!(worker.append(&item, vec![answers("a1")]).await.accepted);
    let message = message_of(&reading.await.unwrap()[0]);
    assert_eq!((message.message_id.as_str(), message.task_id.as_str()), ("a1", ""));
    assert_eq!(message.context_id, item.context_id);

    assert_eq!(listed(&world).await, (Vec::new(), 0));
    assert_eq!(kind(&world.get(&item.task_id).await.unwrap_err()), Kind::TaskNotFound);
    assert_eq!(kind(&world.cancel(&item.task_id).await.unwrap_err()), Kind::TaskNotFound);
    let task = Task { id: item.task_id.clone(), ..Task::default() };
    let turn = goes_on(&task, "m2", Follow::None);
    assert_eq!(kind(&world.submitted(turn).await.unwrap_err()), Kind::TaskNotFound);
    // The same request hears the same, however it asks.
    for follow in [Follow::None, Follow::Result, Follow::Events] {
        let (events, _) = rest(world.submit(keyed(follow)).await.unwrap()).await;
        assert_eq!((events.len(), message_of(&events[0])), (1, message.clone()));
    }

    let after = disk.crash(0);
    world.env.stop().cancel();
    assert_eq!(after.check().problems, Vec::<String>::new());
    let world = on_disk(&after, &Settings { keep_hours: 1, ..settings() }, 2).await;
    let (events, _) = rest(world.submit(keyed(Follow::Result)).await.unwrap()).await;
    assert_eq!(message_of(&events[0]), message);
    assert_eq!(listed(&world).await, (Vec::new(), 0));
    tokio::time::sleep(Duration::from_secs(3_600 + 120)).await;
    assert_eq!(after.check(), weft_tasks::store::Report::default());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_held_is_the_message_alone() {
    let world = simulated(&settings()).await;
    let (reading, mut worker, item) = begun(&world, held()).await;
    worker.append(&item, vec![status(TaskState::Working)]).await;
    worker.append(&item, vec![answers("a1")]).await;
    let events = reading.await.unwrap();
    assert_eq!(events.iter().map(message_of).map(|m| m.message_id).collect::<Vec<_>>(), ["a1"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_held_begins_with_the_task_once_the_run_speaks() {
    let world = simulated(&settings()).await;
    let (reading, mut worker, item) = begun(&world, held()).await;
    worker.append(&item, vec![status(TaskState::Working)]).await;
    worker.append(&item, vec![chunk("answer", "4", false)]).await;
    worker.append(&item, vec![chunk("answer", "2", true), status(TaskState::Completed)]).await;
    let events = reading.await.unwrap();
    assert_eq!(task_of(&events[0]).artifacts.len(), 1);
    assert_eq!(state_of(events.last().unwrap()), Some(TaskState::Completed));
    let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert!(seqs.is_sorted() && seqs.last() == Some(&5), "{seqs:?}");
    assert_eq!(folded(&events).artifacts, world.get(&item.task_id).await.unwrap().artifacts);
}

#[tokio::test(start_paused = true)]
async fn a_held_stream_of_a_parked_or_failed_task_begins_at_once() {
    let world = simulated(&settings()).await;
    let request = SubmitRequest { start: Some(parked()), ..held() };
    let (events, _) = rest(world.submit(request).await.unwrap()).await;
    assert_eq!(state(&task_of(&events[0])), TaskState::InputRequired);
    let (reading, mut worker, item) = begun(&world, held()).await;
    worker.append(&item, vec![status(TaskState::Failed)]).await;
    let events = reading.await.unwrap();
    assert_eq!((events.len(), state(&task_of(&events[0]))), (1, TaskState::Failed));
}

#[tokio::test(start_paused = true)]
async fn of_a_task_that_somebody_was_told_of_a_message_is_the_end() {
    let world = simulated(&settings()).await;
    let webhook = inline(sends(says("m1"), Follow::Result), config("", ""));
    for request in [sends(says("m1"), Follow::None), sends(says("m1"), Follow::Events), webhook] {
        let (reading, mut worker, item) = begun(&world, request).await;
        worker.append(&item, vec![answers("a1")]).await;
        task_of(&reading.await.unwrap()[0]);
        is_completed_with(&world, &item.task_id, "a1").await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_asked_for_the_task_meanwhile_keeps_it() {
    for n in 0..4 {
        let world = simulated(&settings()).await;
        let (reading, mut worker, item) = begun(&world, sends(says("m1"), Follow::Result)).await;
        match n {
            0 => drop(world.get(&item.task_id).await.unwrap()),
            1 => assert_eq!(listed(&world).await.1, 1),
            2 => drop(world.subscribe(&item.task_id, None).await.unwrap()),
            _ => drop(world.set(config(&item.task_id, "h")).await.unwrap()),
        }
        worker.append(&item, vec![answers("a1")]).await;
        assert_eq!(state(&task_of(&reading.await.unwrap()[0])), TaskState::Completed, "{n}");
        is_completed_with(&world, &item.task_id, "a1").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ran_out_told_of_the_task() {
    let world = simulated(&settings()).await;
    let request = SubmitRequest { wait_ms: 300, ..sends(says("m1"), Follow::Result) };
    let (reading, mut worker, item) = begun(&world, request).await;
    assert_eq!(state(&task_of(&reading.await.unwrap()[0])), TaskState::Submitted);
    assert!(worker.append(&item, vec![answers("a1")]).await.accepted);
    is_completed_with(&world, &item.task_id, "a1").await;
}

#[tokio::test(start_paused = true)]
async fn a_message_after_other_words_is_the_end_of_the_task() {
    let world = simulated(&settings()).await;
    let (reading, mut worker, item) = begun(&world, sends(says("m1"), Follow::Result)).await;
    worker.append(&item, vec![chunk("answer", "42", false)]).await;
    worker.append(&item, vec![answers("a1")]).await;
    assert_eq!(task_of(&reading.await.unwrap()[0]).artifacts.len(), 1);
    is_completed_with(&world, &item.task_id, "a1").await;

    let (reading, mut worker, item) = begun(&world, sends(says("m2"), Follow::Result)).await;
    worker.append(&item, vec![chunk("answer", "42", false), answers("a2")]).await;
    task_of(&reading.await.unwrap()[0]);
    is_completed_with(&world, &item.task_id, "a2").await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_none_is_refused_and_the_run_goes_on() {
    let world = simulated(&settings()).await;
    let (reading, mut worker, item) = begun(&world, sends(says("m1"), Follow::Result)).await;
    let refused = worker.append(&item, vec![answers("")]).await;
    assert!(!refused.accepted && refused.message.contains("progress[0].message.messageId"), "{refused:?}");
    worker.append(&item, vec![answers("a1")]).await;
    assert_eq!(message_of(&reading.await.unwrap()[0]).message_id, "a1");
}
