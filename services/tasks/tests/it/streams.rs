//! Readers: what they see, in which order, and when their streams end.

use weft_core::Kind;
use weft_proto::a2a::TaskState;
use weft_proto::weft::{FeedRequest, Follow, SubmitRequest};
use weft_tasks::Settings;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn a_subscription_to_a_waiting_task_goes_on_over_its_next_turns_to_the_end() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    let task = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) })
        .await
        .unwrap();
    let readers =
        [world.subscribe(&task.id, None).await.unwrap(), world.subscribe(&task.id, None).await.unwrap()];
    let gone = world.subscribe(&task.id, None).await.unwrap();
    drop(gone);
    for (id, end) in [("m2", TaskState::InputRequired), ("m3", TaskState::Completed)] {
        world.submitted(goes_on(&task, id, Follow::None)).await.unwrap();
        let item = worker.item().await;
        worker.append(&item, vec![status(TaskState::Working), chunk("a", id, true)]).await;
        worker.append(&item, vec![remark(end, "so")]).await;
    }
    let [(first, end), (second, other)] =
        futures::future::join_all(readers.map(rest)).await.try_into().unwrap();
    assert!(end.is_none() && other.is_none());
    assert_eq!(first, second);
    let states: Vec<_> = first.iter().filter_map(state_of).collect();
    use TaskState::{Completed, InputRequired, Working};
    assert_eq!(states, [InputRequired, Working, Working, InputRequired, Working, Working, Completed]);
    let now = world.get(&task.id).await.unwrap();
    let read = folded(&first);
    assert_eq!((&read.artifacts, &read.status), (&now.artifacts, &now.status));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_to_an_ended_or_unknown_task_is_refused_before_it_begins() {
    let world = simulated(&settings()).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    world.cancel(&task.id).await.unwrap();
    assert_eq!(kind(&world.subscribe(&task.id, None).await.unwrap_err()), Kind::UnsupportedOperation);
    let nobody = world.env.id();
    assert_eq!(kind(&world.subscribe(&nobody, None).await.unwrap_err()), Kind::TaskNotFound);
}

#[tokio::test(start_paused = true)]
async fn a_returning_reader_gets_what_it_missed_and_nothing_twice() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    for n in 0..10 {
        worker.append(&item, vec![remark(TaskState::Working, &format!("r{n}"))]).await;
    }
    let beyond = world.subscribe(&task.id, Some(12)).await.unwrap_err();
    assert_eq!(field(&beyond), "after");
    let readers = [
        world.subscribe(&task.id, Some(0)).await.unwrap(),
        world.subscribe(&task.id, Some(7)).await.unwrap(),
    ];
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    let mut after = vec![0, 7];
    for reader in readers {
        let (read, end) = rest(reader).await;
        assert!(end.is_none());
        let seqs: Vec<_> = read.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (after.remove(0) + 1..=12).collect::<Vec<_>>());
        if seqs[0] == 1 {
            assert_eq!(folded(&read), world.get(&task.id).await.unwrap());
        }
    }
    // Of an ended task what was missed can still be had, but nothing more awaited.
    let (read, _) = rest(world.subscribe(&task.id, Some(10)).await.unwrap()).await;
    assert_eq!(read.iter().map(|event| event.seq).collect::<Vec<_>>(), [11, 12]);
    let over = world.subscribe(&task.id, Some(12)).await.unwrap_err();
    assert_eq!(kind(&over), Kind::UnsupportedOperation);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_each_of_five_thousand_updates_once_and_holds_nobody_up() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let slow = world.submit(sends(says("m1"), Follow::Events)).await.unwrap();
    let item = worker.item().await;
    let quick = world.subscribe(&item.task_id, None).await.unwrap();
    let quick = tokio::spawn(rest(quick));
    for n in 0..50 {
        let steps = (0..100).map(|m| remark(TaskState::Working, &format!("{n}-{m}"))).collect();
        assert!(worker.append(&item, steps).await.accepted);
    }
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    let (quick, end) = quick.await.unwrap();
    assert!(end.is_none() && quick.last().and_then(state_of) == Some(TaskState::Completed));
    let (read, end) = rest(slow).await;
    assert!(end.is_none());
    assert_eq!(read.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=5_002).collect::<Vec<_>>());
    assert_eq!(folded(&read), world.get(&item.task_id).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_goes_leaves_the_work_going() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let events = world.submit(sends(says("m1"), Follow::Events)).await.unwrap();
    drop(events);
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    assert_eq!(state(&world.get(&item.task_id).await.unwrap()), TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_open_streams_with_unavailable_and_never_as_if_they_were_done() {
    let world = simulated(&settings()).await;
    let events = world.submit(sends(says("m1"), Follow::Events)).await.unwrap();
    let result = world.submit(sends(says("m2"), Follow::Result)).await.unwrap();
    let feed = world.client.clone().feed(FeedRequest { owner: "local".into() }).await.unwrap().into_inner();
    let mut worker = world.worker(0).await;
    world.env.stop().cancel();
    for stream in [events, result] {
        assert_eq!(kind(&rest(stream).await.1.unwrap()), Kind::Unavailable);
    }
    let mut feed = feed;
    assert_eq!(kind(&feed.message().await.unwrap_err()), Kind::Unavailable);
    assert_eq!(kind(&worker.claims.message().await.unwrap_err()), Kind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_feed_tells_each_status_change_of_its_owner_only() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    let mut feed =
        world.client.clone().feed(FeedRequest { owner: "local".into() }).await.unwrap().into_inner();
    let strange = SubmitRequest { owner: "other".into(), ..sends(says("m0"), Follow::None) };
    world.submitted(strange).await.unwrap();
    worker.item().await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![chunk("a", "x", false), status(TaskState::Completed)]).await;
    for wanted in [TaskState::Submitted, TaskState::Completed] {
        let event = feed.message().await.unwrap().unwrap();
        assert_eq!(
            (event.task_id.as_str(), event.status.unwrap().state(), event.lagged),
            (task.id.as_str(), wanted, false)
        );
        assert_eq!(
            (event.capability.as_str(), event.context_id),
            ("sector.movement", task.context_id.clone())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_lags_is_told_so() {
    let world = simulated(&settings()).await;
    let mut feed =
        world.client.clone().feed(FeedRequest { owner: "local".into() }).await.unwrap().into_inner();
    for n in 0..400 {
        world.submitted(sends(says(&format!("m{n}")), Follow::None)).await.unwrap();
    }
    let mut lagged = Vec::new();
    for _ in 0..256 {
        lagged.push(feed.message().await.unwrap().unwrap().lagged);
    }
    assert_eq!(lagged.iter().filter(|lagged| **lagged).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn readers_of_one_task_are_bounded() {
    let world = simulated(&Settings { readers_max: 2, ..settings() }).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let first = world.subscribe(&task.id, None).await.unwrap();
    let _second = world.subscribe(&task.id, None).await.unwrap();
    let refused = world.subscribe(&task.id, None).await.unwrap_err();
    assert!(kind(&refused) == Kind::Exhausted && refused.message().contains("tasks.readers_max"));
    drop(first);
    assert!(world.subscribe(&task.id, None).await.is_ok());
}
