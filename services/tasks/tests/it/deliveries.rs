//! Events on their way to real receivers: order, headers, repetition, restart, and what is never called.

use std::time::Duration;

use weft_proto::a2a::{SendMessageConfiguration, TaskPushNotificationConfig, TaskState};
use weft_proto::weft::push_delivery::State;
use weft_proto::weft::{Follow, PushDelivery, SubmitRequest, WorkItem};
use weft_tasks::store::Store;
use weft_tasks::store::simulated::Disk;
use weft_tasks::{Outside, Settings};

use crate::outside::{FakeNames, FakeSigner, outside, plain};
use crate::pushes::{config, inline};
use crate::receiver::{Receiver, Reply};
use crate::world::*;

/// Receivers of tests are on loopback; a failed call is made again at once.
fn eager() -> Settings {
    Settings { push_allow: vec!["127.0.0.0/8".into()], push_retry_ms: 1, push_retry_ms_max: 20, ..settings() }
}

fn to(receiver: &Receiver, task: &str, id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig { url: receiver.url(), ..config(task, id) }
}

/// A task with this webhook, and the work of it.
async fn begun<S: Store>(
    world: &World<S>,
    worker: &mut Worker,
    config: TaskPushNotificationConfig,
) -> (String, WorkItem) {
    let request = inline(sends(says("m1"), Follow::None), config);
    let task = world.submitted(request).await.unwrap();
    (task.id, worker.item().await)
}

/// Waits until the webhook is as wanted.
async fn until<S: Store>(
    world: &World<S>,
    task: &str,
    wanted: impl Fn(&PushDelivery) -> bool,
) -> PushDelivery {
    for _ in 0..6_000 {
        let found = world.pushed("local", task).await.unwrap().remove(0);
        if wanted(&found) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", world.pushed("local", task).await)
}

const RUN: [&str; 5] = [
    "task SUBMITTED",
    "statusUpdate WORKING",
    "artifactUpdate answer",
    "statusUpdate WORKING",
    "statusUpdate COMPLETED",
];

async fn run(worker: &mut Worker, item: &WorkItem) {
    worker.append(item, vec![remark(TaskState::Working, "on it"), chunk("answer", "42", false)]).await;
    worker.append(item, vec![remark(TaskState::Working, "nearly")]).await;
    worker.append(item, vec![remark(TaskState::Completed, "done")]).await;
}

#[tokio::test]
async fn each_event_is_posted_once_in_order_with_its_credentials() {
    let receiver = Receiver::start().await;
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let request = configured(
        sends(says("m1"), Follow::None),
        SendMessageConfiguration {
            task_push_notification_config: Some(to(&receiver, "", "")),
            return_immediately: true,
            ..SendMessageConfiguration::default()
        },
    );
    let task = world.submitted(request).await.unwrap();
    let item = worker.item().await;
    run(&mut worker, &item).await;
    let got = receiver.got(5).await;
    let told: Vec<_> = got.iter().map(crate::receiver::Got::told).collect();
    assert_eq!(told, RUN);
    for call in &got {
        assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/hook"));
        assert_eq!(call.header("content-type"), "application/a2a+json");
        assert!(call.header("content-length").parse::<usize>().unwrap() > 0);
        assert_eq!(call.header("transfer-encoding"), "");
        assert_eq!(call.header("authorization"), "Bearer s3cret-credentials");
        assert_eq!(call.header("a2a-notification-token"), "t0ken");
        assert_eq!(call.header("x-a2a-notification-token"), "t0ken");
        let body = &call.body[call.member()];
        let id = if call.member() == "task" { &body["id"] } else { &body["taskId"] };
        assert_eq!(id.as_str(), Some(task.id.as_str()));
    }
    assert_eq!(got[0].body["task"]["history"][0]["messageId"], "m1");
    assert_eq!(got[4].body["statusUpdate"]["status"]["message"]["messageId"], "done");
    let now = until(&world, &task.id, |now| now.delivered == 5).await;
    assert_eq!((now.state(), now.last, now.attempts, now.error.as_str()), (State::UpToDate, 5, 0, ""));
    assert_eq!(receiver.so_far().len(), 5);
}

#[tokio::test]
async fn a_webhook_gets_what_comes_after_it_and_each_one_gets_it() {
    let (first, second) = (Receiver::start().await, Receiver::start().await);
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(2).await;
    let (task, item) = begun(&world, &mut worker, to(&first, "", "")).await;
    worker.append(&item, vec![status(TaskState::Working)]).await;
    let open = TaskPushNotificationConfig {
        token: String::new(),
        authentication: None,
        ..to(&second, &task, "second")
    };
    world.set(open).await.unwrap();
    worker.append(&item, vec![status(TaskState::InputRequired)]).await;
    let turn = goes_on(&world.get(&task).await.unwrap(), "m2", Follow::None);
    world.submitted(turn).await.unwrap();
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    let told = ["statusUpdate INPUT_REQUIRED", "statusUpdate WORKING", "statusUpdate COMPLETED"];
    let got = second.got(3).await;
    assert_eq!(second.so_far(), told);
    assert!(got.iter().all(|call| call.header("authorization").is_empty()));
    assert!(got.iter().all(|call| call.header("x-a2a-notification-token").is_empty()));
    first.got(5).await;
    assert_eq!(first.so_far()[2..], told);
}

#[tokio::test]
async fn a_failed_call_is_made_again_before_any_later_event() {
    let receiver = Receiver::start().await;
    receiver.reply([
        Reply::Status(500),
        Reply::Header(503, "retry-after", "0".into()),
        Reply::Status(404),
        Reply::Status(200),
        Reply::Status(429),
    ]);
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "")).await;
    run(&mut worker, &item).await;
    receiver.got(9).await;
    let repeated = [[RUN[0]; 4].as_slice(), &[RUN[1]; 2], &RUN[2..]].concat();
    assert_eq!(receiver.so_far(), repeated);
    assert_eq!(until(&world, &task, |now| now.delivered == 5).await.state(), State::UpToDate);
}

#[tokio::test]
async fn the_receivers_wish_to_wait_is_heard() {
    let receiver = Receiver::start().await;
    receiver.reply([Reply::Header(503, "retry-after", "3600".into())]);
    let settings = Settings { push_retry_ms_max: 7_200_000, ..eager() };
    let world = on_disk(&Disk::default(), &settings, 1).await;
    let mut worker = world.worker(1).await;
    let (task, _) = begun(&world, &mut worker, to(&receiver, "", "")).await;
    let now = until(&world, &task, |now| now.attempts == 1).await;
    assert_eq!(now.state(), State::Retrying);
    assert!(now.error.contains("503"), "{}", now.error);
    let wait = now.next_try.unwrap().seconds - now.failing_since.unwrap().seconds;
    assert!((3_599..=3_601).contains(&wait), "{wait}");
}

#[tokio::test]
async fn what_was_not_delivered_is_delivered_by_the_next_process() {
    let receiver = Receiver::start().await;
    receiver.reply([Reply::Status(200)]);
    receiver.always(Reply::Hold);
    let disk = Disk::default();
    let world = on_disk(&disk, &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "")).await;
    run(&mut worker, &item).await;
    // The second call is on its way when the process dies.
    receiver.got(2).await;
    let after = disk.crash(0);
    world.env.stop().cancel();
    receiver.always(Reply::Status(200));
    let world = on_disk(&after, &eager(), 2).await;
    receiver.got(6).await;
    assert_eq!(receiver.so_far(), [&RUN[..2], &RUN[1..]].concat());
    until(&world, &task, |now| now.delivered == 5).await;
    assert_eq!(after.check().problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_store_delivers_over_a_restart() {
    let receiver = Receiver::start().await;
    receiver.always(Reply::Status(503));
    let dir = tempfile::tempdir().unwrap();
    let task = {
        let world = embedded(dir.path(), &eager()).await;
        let mut worker = world.worker(1).await;
        let (task, item) = begun(&world, &mut worker, to(&receiver, "", "")).await;
        run(&mut worker, &item).await;
        receiver.got(2).await;
        assert!(world.env.drain(Duration::from_secs(30)).await);
        world.handle.close().await;
        task
    };
    let before = receiver.so_far().len();
    receiver.always(Reply::Status(200));
    let world = embedded(dir.path(), &eager()).await;
    receiver.got(before + 5).await;
    assert_eq!(receiver.so_far()[before..], RUN);
    until(&world, &task, |now| now.delivered == 5).await;
}

#[tokio::test]
async fn nothing_comes_after_a_delete() {
    let (deleted, kept) = (Receiver::start().await, Receiver::start().await);
    deleted.always(Reply::Hold);
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&deleted, "", "gone")).await;
    world.set(to(&kept, &task, "kept")).await.unwrap();
    worker.append(&item, vec![status(TaskState::Working)]).await;
    // A call is on its way; deleting does not wait for its answer.
    deleted.got(1).await;
    world.delete_push(&task, "gone").await.unwrap();
    deleted.release();
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    kept.got(2).await;
    until(&world, &task, |now| now.delivered == 3).await;
    assert_eq!(deleted.so_far(), [RUN[0]]);
}

#[tokio::test]
async fn a_webhook_that_is_set_again_goes_on_at_its_new_address() {
    let (old, new) = (Receiver::start().await, Receiver::start().await);
    old.always(Reply::Hold);
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&old, "", "h")).await;
    run(&mut worker, &item).await;
    old.got(1).await;
    world.set(to(&new, &task, "h")).await.unwrap();
    new.got(5).await;
    assert_eq!((old.so_far(), new.so_far()), (vec![RUN[0].to_owned()], RUN.map(str::to_owned).to_vec()));
}

#[tokio::test]
async fn what_fails_for_too_long_is_given_up_visibly_until_it_is_set_again() {
    let receiver = Receiver::start().await;
    receiver.reply([Reply::Status(200)]);
    receiver.always(Reply::Status(500));
    let world = on_disk(&Disk::default(), &Settings { push_attempts_max: 3, ..eager() }, 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "h")).await;
    run(&mut worker, &item).await;
    let now = until(&world, &task, |now| now.state() == State::GivenUp).await;
    assert_eq!((now.delivered, now.last, now.attempts, now.next_try), (1, 5, 3, None));
    assert!(now.error.contains("500") && now.failing_since.is_some(), "{now:?}");
    assert_eq!(world.pushed("local", "").await.unwrap(), [now]);
    assert_eq!(world.pushed("other", "").await.unwrap(), []);
    assert!(world.env.metrics().render().contains("weft_tasks_pushes_given_up_total 1"));
    assert_eq!(receiver.so_far(), [RUN[0], RUN[1], RUN[1], RUN[1]]);

    receiver.always(Reply::Status(204));
    world.set(to(&receiver, &task, "h")).await.unwrap();
    receiver.got(8).await;
    assert_eq!(receiver.so_far()[4..], RUN[1..]);
    until(&world, &task, |now| now.delivered == 5).await;
    assert_eq!(world.pushed("local", "").await.unwrap(), []);
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_asked_once() {
    let receiver = Receiver::start().await;
    receiver.always(Reply::Status(410));
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "h")).await;
    run(&mut worker, &item).await;
    let now = until(&world, &task, |now| now.state() == State::GivenUp).await;
    assert_eq!((now.attempts, receiver.so_far().len()), (1, 1));
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let (receiver, target) = (Receiver::start().await, Receiver::start().await);
    receiver.reply([301, 302, 303, 307, 308].map(|code| Reply::Header(code, "location", target.url())));
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "h")).await;
    run(&mut worker, &item).await;
    receiver.got(10).await;
    assert_eq!(receiver.so_far()[..6], [RUN[0]; 6]);
    until(&world, &task, |now| now.delivered == 5).await;
    assert_eq!(target.so_far(), Vec::<String>::new());
}

/// A store that may call nothing private, and knows names as told.
async fn strict(names: &FakeNames) -> World {
    let settings = Settings { push_allow: Vec::new(), push_attempts_max: 2, ..eager() };
    on_disk_with(&Disk::default(), &settings, 1, outside(&FakeSigner::default(), names)).await
}

#[tokio::test]
async fn a_name_that_turns_to_a_private_address_is_never_called() {
    let receiver = Receiver::start().await;
    let names = FakeNames::default();
    // Public when it is judged, loopback when it is called.
    names.know("flips.test", &[&["93.184.216.34"], &["127.0.0.1"]]);
    names.know("mapped.test", &[&["93.184.216.34"], &["::ffff:127.0.0.1"]]);
    let world = strict(&names).await;
    let mut worker = world.worker(2).await;
    for name in ["flips.test", "mapped.test"] {
        let url = format!("http://{name}:{}/hook", receiver.port);
        let config = TaskPushNotificationConfig { url, ..config("", "") };
        let (task, item) = begun(&world, &mut worker, config).await;
        worker.append(&item, vec![status(TaskState::Completed)]).await;
        let now = until(&world, &task, |now| now.state() == State::GivenUp).await;
        assert!(now.error.contains("tasks.push_allow"), "{}", now.error);
    }
    assert_eq!(receiver.so_far(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_that_is_no_longer_allowed_is_not_called() {
    let receiver = Receiver::start().await;
    receiver.always(Reply::Status(500));
    let disk = Disk::default();
    let patient = Settings { push_retry_ms: 3_600_000, push_retry_ms_max: 3_600_000, ..eager() };
    let world = on_disk(&disk, &patient, 1).await;
    let mut worker = world.worker(1).await;
    let (task, _) = begun(&world, &mut worker, to(&receiver, "", "h")).await;
    until(&world, &task, |now| now.attempts == 1).await;
    let after = disk.crash(usize::MAX);
    world.env.stop().cancel();
    let settings = Settings { push_allow: Vec::new(), ..eager() };
    let world = on_disk(&after, &settings, 2).await;
    let now = until(&world, &task, |now| now.attempts > 3).await;
    assert!(now.error.contains("tasks.push_allow"), "{}", now.error);
    assert_eq!(receiver.so_far(), [RUN[0]]);
}

#[tokio::test]
async fn localhost_is_reached_where_it_listens() {
    let receiver = Receiver::start().await;
    let names = FakeNames::default();
    names.know("localhost", &[&["::1"]]);
    let settings = Settings { push_allow: vec!["localhost".into()], ..eager() };
    let world = on_disk_with(&Disk::default(), &settings, 1, outside(&FakeSigner::default(), &names)).await;
    let mut worker = world.worker(1).await;
    let url = format!("http://localhost:{}/webhook", receiver.port);
    let config = TaskPushNotificationConfig { url, ..config("", "") };
    let (_, item) = begun(&world, &mut worker, config).await;
    run(&mut worker, &item).await;
    assert_eq!(receiver.got(5).await[4].path, "/webhook");
}

#[tokio::test]
async fn slow_webhooks_delay_no_other() {
    let (slow, fast) = (Receiver::start().await, Receiver::start().await);
    slow.always(Reply::Hold);
    let settings = Settings { push_calls_max: 4, push_host_calls_max: 3, ..eager() };
    let world = on_disk(&Disk::default(), &settings, 1).await;
    let mut worker = world.worker(20).await;
    for n in 0..12 {
        let request = inline(sends(says(&format!("s{n}")), Follow::None), to(&slow, "", ""));
        world.submitted(request).await.unwrap();
        worker.item().await;
    }
    slow.got(3).await;
    let (_, item) = begun(&world, &mut worker, to(&fast, "", "")).await;
    run(&mut worker, &item).await;
    fast.got(5).await;
    assert_eq!((fast.so_far(), slow.so_far().len()), (RUN.map(str::to_owned).to_vec(), 3));
    slow.release();
    slow.got(12).await;
}

#[tokio::test]
async fn a_canceled_task_tells_its_webhook_one_end() {
    let receiver = Receiver::start().await;
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let mut worker = world.worker(1).await;
    let (task, item) = begun(&world, &mut worker, to(&receiver, "", "")).await;
    world.cancel(&task).await.unwrap();
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    world.cancel(&task).await.unwrap();
    until(&world, &task, |now| now.delivered == 2).await;
    assert_eq!(receiver.so_far(), ["task SUBMITTED", "statusUpdate CANCELED"]);
}

#[tokio::test]
async fn a_wrong_allow_list_is_told_at_the_start() {
    let settings = Settings { push_allow: vec!["10.0.0.0/33".into()], ..settings() };
    let env = weft_chassis::Env::simulated(1);
    let meter = weft_tasks::Meter::new(env.metrics());
    let store = weft_tasks::store::simulated::open(
        &Disk::default(),
        Duration::from_millis(1),
        &settings,
        &env,
        meter.clone(),
    );
    let outside: Outside = plain();
    let refused = weft_tasks::serve(store.unwrap(), &settings, outside, &env, meter).await.err().unwrap();
    assert!(refused.0.contains("tasks.push_allow") && refused.0.contains("10.0.0.0/33"), "{}", refused.0);
}

#[tokio::test]
async fn a_parked_task_tells_its_webhook_at_once() {
    let receiver = Receiver::start().await;
    let world = on_disk(&Disk::default(), &eager(), 1).await;
    let request = SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) };
    world.submitted(inline(request, to(&receiver, "", ""))).await.unwrap();
    receiver.got(1).await;
    assert_eq!(receiver.so_far(), ["task INPUT_REQUIRED"]);
}
