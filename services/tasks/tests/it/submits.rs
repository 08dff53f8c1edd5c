//! Messages in: new tasks, turns, replays, and what is refused.

use weft_core::Kind;
use weft_proto::a2a::{Message, SendMessageConfiguration, TaskState};
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::{Follow, GetRequest, SubmitRequest};
use weft_tasks::Settings;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn a_message_becomes_a_task_that_a_worker_answers() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let mut events = world.submit(sends(says("m1"), Follow::Events)).await.unwrap();
    let task = task_of(&events.message().await.unwrap().unwrap());
    assert_eq!((state(&task), task.history[0].message_id.as_str()), (TaskState::Submitted, "m1"));

    let item = worker.item().await;
    assert_eq!(
        (item.task_id.as_str(), item.attempt, item.route.as_ref().unwrap().capability.as_str()),
        (task.id.as_str(), 1, "sector.movement")
    );
    assert!(worker.append(&item, vec![status(TaskState::Working)]).await.accepted);
    let end = vec![chunk("a", "4", false), chunk("a", "2", true), remark(TaskState::Completed, "done")];
    assert!(worker.append(&item, end).await.accepted);

    let (read, error) = rest(events).await;
    assert!(error.is_none());
    let seqs: Vec<_> = read.iter().map(|event| event.seq).collect();
    assert_eq!((seqs, read.last().and_then(state_of)), (vec![2, 3, 4, 5], Some(TaskState::Completed)));
    let now = world.get(&task.id).await.unwrap();
    assert_eq!(now.artifacts[0].parts, [text("4"), text("2")]);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_message_is_answered_with_the_end_of_its_turn() {
    let world = simulated(&settings()).await;
    let worker = world.worker(1).await;
    tokio::spawn(worker.complete_all());
    for n in 0..50 {
        let task = world.submitted(sends(says(&format!("m{n}")), Follow::Result)).await.unwrap();
        assert_eq!((state(&task), task.artifacts.len()), (TaskState::Completed, 1));
        assert_eq!(world.get(&task.id).await.unwrap(), task);
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocking_message_is_answered_as_it_is_when_its_time_is_over() {
    let world = simulated(&settings()).await;
    let request = SubmitRequest { wait_ms: 500, ..sends(says("m1"), Follow::Result) };
    let began = tokio::time::Instant::now();
    assert_eq!(state(&world.submitted(request).await.unwrap()), TaskState::Submitted);
    assert!(began.elapsed().as_millis() >= 500);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_goes_on_with_the_answer_under_the_same_id() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(2).await;
    let asked = world.submit(sends(says("m1"), Follow::Result)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![remark(TaskState::InputRequired, "which?")]).await;
    let (events, _) = rest(asked).await;
    let task = task_of(&events[0]);
    assert_eq!(state(&task), TaskState::InputRequired);

    let answered = world.submit(goes_on(&task, "m2", Follow::Result)).await.unwrap();
    let item = worker.item().await;
    assert_eq!((item.message.as_ref().unwrap().message_id.as_str(), item.attempt), ("m2", 1));
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    let done = task_of(&rest(answered).await.0[0]);
    let said: Vec<_> = done.history.iter().map(|m| m.message_id.as_str()).collect();
    assert_eq!((done.id, done.context_id, said), (task.id, task.context_id, vec!["m1", "which?", "m2"]));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_for_a_permission_goes_on_too_and_ends_as_its_run_says() {
    for end in [TaskState::Completed, TaskState::Rejected, TaskState::Failed] {
        let world = simulated(&settings()).await;
        let mut worker = world.worker(2).await;
        let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
        let item = worker.item().await;
        worker.append(&item, vec![remark(TaskState::AuthRequired, "may I?")]).await;
        let answered = world.submit(goes_on(&task, "m2", Follow::Result)).await.unwrap();
        let item = worker.item().await;
        worker.append(&item, vec![remark(end, "so")]).await;
        let done = task_of(&rest(answered).await.0[0]);
        assert_eq!((done.id.as_str(), state(&done), done.history.len()), (task.id.as_str(), end, 3));
        // Nothing leads on from any end.
        let late = world.submitted(goes_on(&task, "m3", Follow::None)).await.unwrap_err();
        assert_eq!(kind(&late), Kind::UnsupportedOperation);
        assert_eq!(kind(&world.cancel(&task.id).await.unwrap_err()), Kind::TaskNotCancelable);
        assert_eq!(world.get(&task.id).await.unwrap(), done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_parked_task_waits_without_a_worker_and_runs_when_a_route_is_found() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let request = SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::Events) };
    let (events, error) = rest(world.submit(request).await.unwrap()).await;
    assert!(error.is_none());
    let task = task_of(&events[0]);
    assert_eq!((events.len(), state(&task)), (1, TaskState::InputRequired));

    // Nothing found again: it stays parked.
    let again = SubmitRequest { start: Some(parked()), ..goes_on(&task, "m2", Follow::None) };
    assert_eq!(state(&world.submitted(again).await.unwrap()), TaskState::InputRequired);
    world.submitted(goes_on(&task, "m3", Follow::None)).await.unwrap();
    assert_eq!(worker.item().await.message.unwrap().message_id, "m3");
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_keeps_the_tasks_own_route_unless_it_names_another() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::InputRequired)]).await;
    let named = |explicit| {
        let route = weft_proto::weft::Route { capability: "other".into(), explicit, ..Default::default() };
        Some(weft_proto::weft::submit_request::Start::Route(route))
    };
    let turns = [
        ("m2", Some(parked()), "sector.movement"),
        ("m3", named(false), "sector.movement"),
        ("m4", named(true), "other"),
    ];
    for (id, start, expected) in turns {
        world.submitted(SubmitRequest { start, ..goes_on(&task, id, Follow::None) }).await.unwrap();
        let item = worker.item().await;
        assert_eq!(item.route.as_ref().unwrap().capability, expected, "{id}");
        worker.append(&item, vec![status(TaskState::InputRequired)]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_to_an_ended_or_running_task_is_refused_and_changes_nothing() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    for end in [
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Rejected,
        TaskState::Canceled,
        TaskState::Working,
    ] {
        let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
        let item = worker.item().await;
        worker.append(&item, vec![status(end)]).await;
        let before = world.get(&task.id).await.unwrap();
        // The very message that opened it, but for the task id: what careless clients send.
        let refused = world.submitted(goes_on(&task, "m1", Follow::None)).await.unwrap_err();
        assert_eq!(kind(&refused), Kind::UnsupportedOperation, "{end:?}");
        assert_eq!(world.get(&task.id).await.unwrap(), before);
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_and_foreign_tasks_are_alike_and_a_wrong_context_is_named() {
    let world = simulated(&settings()).await;
    let request = SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) };
    let task = world.submitted(request).await.unwrap();

    let nobody = world.env.id();
    let unknown = world.get(&nobody).await.unwrap_err();
    let request = GetRequest { owner: "other".into(), task_id: task.id.clone(), history_length: None };
    let foreign = world.client.clone().get(request).await.unwrap_err();
    assert_eq!((kind(&unknown), kind(&foreign)), (Kind::TaskNotFound, Kind::TaskNotFound));
    assert_eq!(unknown.message().replace(&nobody, "?"), foreign.message().replace(&task.id, "?"));
    let strange = SubmitRequest { owner: "other".into(), ..goes_on(&task, "m2", Follow::None) };
    assert_eq!(kind(&world.submitted(strange).await.unwrap_err()), Kind::TaskNotFound);
    for id in ["", "x", "../x"] {
        let refused =
            world.submitted(sends(Message { task_id: "x".into(), ..says("m") }, Follow::None)).await;
        assert_eq!(kind(&refused.unwrap_err()), Kind::TaskNotFound, "{id}");
    }

    let wrong = Message { task_id: task.id.clone(), context_id: "elsewhere".into(), ..says("m2") };
    let refused = world.submitted(sends(wrong, Follow::None)).await.unwrap_err();
    assert_eq!(field(&refused), "message.contextId");
    assert_eq!(world.get(&task.id).await.unwrap().history.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_same_key_answers_the_same_task_as_it_is_now() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    let keyed = |message, follow| SubmitRequest { idempotency_key: "k".into(), ..sends(message, follow) };
    let task = world.submitted(keyed(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    for follow in [Follow::None, Follow::Result, Follow::Events] {
        let again = world.submitted(keyed(says("m1"), follow)).await.unwrap();
        assert_eq!((again.id.as_str(), state(&again)), (task.id.as_str(), TaskState::Completed));
    }
    let changed = Message { parts: vec![text("something else")], ..says("m1") };
    assert_eq!(kind(&world.submitted(keyed(changed, Follow::None)).await.unwrap_err()), Kind::Conflict);
    let other = SubmitRequest { owner: "other".into(), ..keyed(says("m1"), Follow::None) };
    assert_ne!(world.submitted(other).await.unwrap().id, task.id);
}

#[tokio::test(start_paused = true)]
async fn a_message_id_is_a_key_only_for_owners_who_replay_by_it() {
    let world = simulated(&settings()).await;
    let plain = || sends(says("m1"), Follow::None);
    let first = world.submitted(plain()).await.unwrap();
    assert_ne!(world.submitted(plain()).await.unwrap().id, first.id);

    let known = || SubmitRequest { owner: "key:a".into(), replay_by_message_id: true, ..plain() };
    let first = world.submitted(known()).await.unwrap();
    assert_eq!(world.submitted(known()).await.unwrap().id, first.id);
    let mut changed = known();
    changed.request.as_mut().unwrap().message.as_mut().unwrap().parts.push(text("more"));
    assert_eq!(kind(&world.submitted(changed).await.unwrap_err()), Kind::Conflict);
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_sent_twice_is_one_turn_and_a_new_one_under_its_id_another() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(9).await;
    let task = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) })
        .await
        .unwrap();
    let turn = || goes_on(&task, "same", Follow::None);
    world.submitted(turn()).await.unwrap();
    world.submitted(turn()).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::InputRequired)]).await;
    world.submitted(turn()).await.unwrap();
    assert_eq!(
        world.get(&task.id).await.unwrap().history.iter().filter(|m| m.message_id == "same").count(),
        1
    );

    let mut changed = turn();
    changed.request.as_mut().unwrap().message.as_mut().unwrap().parts = vec![text("another thing")];
    world.submitted(changed).await.unwrap();
    worker.item().await;
    assert_eq!(
        world.get(&task.id).await.unwrap().history.iter().filter(|m| m.message_id == "same").count(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_with_a_time_and_stores_nothing_but_still_knows_its_own() {
    let world = simulated(&Settings { queue_max: 2, ..settings() }).await;
    let keyed = SubmitRequest { idempotency_key: "k".into(), ..sends(says("m1"), Follow::None) };
    let first = world.submitted(keyed.clone()).await.unwrap();
    world.submitted(sends(says("m2"), Follow::None)).await.unwrap();
    let refused = world.submitted(sends(says("m3"), Follow::None)).await.unwrap_err();
    let fault = weft_chassis::status::fault(&refused);
    assert_eq!(fault.kind, Kind::Exhausted);
    assert!(fault.retry_after_ms.is_some() && fault.message.contains("tasks.queue_max"), "{fault:?}");
    let stats = world.client.clone().stats(weft_proto::weft::StatsRequest {}).await.unwrap().into_inner();
    assert_eq!((stats.tasks, stats.queued), (2, 2));
    assert_eq!(world.submitted(keyed).await.unwrap().id, first.id);
    // A canceled task gives its place back.
    world.cancel(&first.id).await.unwrap();
    world.submitted(sends(says("m3"), Follow::None)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn limits_are_named_when_they_refuse() {
    let small = Settings { tasks_max: 2, task_bytes_max: 65_536, ..settings() };
    let world = simulated(&small).await;
    let mut worker = world.worker(9).await;
    let large = Message { parts: vec![text(&"x".repeat(70_000))], ..says("m") };
    let refused = world.submitted(sends(large, Follow::None)).await.unwrap_err();
    assert!(kind(&refused) == Kind::TooLarge && refused.message().contains("tasks.task_bytes_max"));

    world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    let answer = worker.append(&item, vec![chunk("a", &"x".repeat(66_000), false)]).await;
    assert!(answer.refusal() == Refusal::Invalid && answer.message.contains("tasks.task_bytes_max"));
    assert!(worker.append(&item, vec![remark(TaskState::Failed, "too large")]).await.accepted);

    world.submitted(sends(says("m2"), Follow::None)).await.unwrap();
    // The one that ended makes room; then none is left to.
    world.submitted(sends(says("m3"), Follow::None)).await.unwrap();
    assert_eq!(kind(&world.get(&item.task_id).await.unwrap_err()), Kind::TaskNotFound);
    let refused = world.submitted(sends(says("m4"), Follow::None)).await.unwrap_err();
    assert!(kind(&refused) == Kind::Exhausted && refused.message().contains("tasks.tasks_max"));

    let full = simulated(&Settings { store_bytes_max: 1, ..settings() }).await;
    let refused = full.submitted(sends(says("m1"), Follow::None)).await.unwrap_err();
    assert!(kind(&refused) == Kind::Exhausted && refused.message().contains("tasks.store_bytes_max"));
}

#[tokio::test(start_paused = true)]
async fn history_is_cut_to_the_latest_as_asked() {
    let world = simulated(&settings()).await;
    let asked =
        |history_length| SendMessageConfiguration { history_length, ..SendMessageConfiguration::default() };
    let request = |history| configured(sends(says("m1"), Follow::None), asked(history));
    assert!(world.submitted(request(Some(0))).await.unwrap().history.is_empty());
    assert_eq!(world.submitted(request(None)).await.unwrap().history.len(), 1);
    assert_eq!(field(&world.submitted(request(Some(-1))).await.unwrap_err()), "configuration.historyLength");

    let task = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) })
        .await
        .unwrap();
    let again = SubmitRequest { start: Some(parked()), ..goes_on(&task, "m2", Follow::None) };
    world.submitted(again).await.unwrap();
    let get = async |history_length| {
        let request = GetRequest { owner: "local".into(), task_id: task.id.clone(), history_length };
        let task = world.client.clone().get(request).await.map(tonic::Response::into_inner)?;
        Ok::<_, tonic::Status>(task.history.into_iter().map(|m| m.message_id).collect::<Vec<_>>())
    };
    assert_eq!(get(None).await.unwrap(), ["m1", "what can be asked", "m2"]);
    assert_eq!(get(Some(1)).await.unwrap(), ["m2"]);
    assert_eq!(get(Some(9_999)).await.unwrap().len(), 3);
    assert!(get(Some(0)).await.unwrap().is_empty());
    assert_eq!(field(&get(Some(-1)).await.unwrap_err()), "historyLength");
}

#[tokio::test(start_paused = true)]
async fn a_canceled_task_stays_canceled_whatever_its_worker_says() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    assert_eq!(state(&world.cancel(&task.id).await.unwrap()), TaskState::Canceled);
    match worker.event().await {
        weft_proto::weft::claim_event::Event::Stop(stop) => {
            assert_eq!((stop.task_id, stop.lease), (task.id.clone(), item.lease))
        }
        other => panic!("{other:?}"),
    }
    let late = worker.append(&item, vec![status(TaskState::Completed)]).await;
    assert_eq!((late.accepted, late.refusal()), (false, Refusal::Terminal));
    assert_eq!(state(&world.cancel(&task.id).await.unwrap()), TaskState::Canceled);
    assert_eq!(world.get(&task.id).await.unwrap().status.unwrap().state(), TaskState::Canceled);
}

#[tokio::test(start_paused = true)]
async fn an_ended_task_cannot_be_canceled_and_a_parked_one_can() {
    let world = simulated(&settings()).await;
    let mut worker = world.worker(1).await;
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    assert_eq!(kind(&world.cancel(&task.id).await.unwrap_err()), Kind::TaskNotCancelable);
    let parked = world
        .submitted(SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) })
        .await
        .unwrap();
    assert_eq!(state(&world.cancel(&parked.id).await.unwrap()), TaskState::Canceled);
}
