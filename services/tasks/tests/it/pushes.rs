//! Webhooks as their owner sets, reads and deletes them; what is called is tested in `deliveries`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tonic::Status;
use weft_core::Kind;
use weft_proto::a2a::{AuthenticationInfo, SendMessageConfiguration, TaskPushNotificationConfig, TaskState};
use weft_proto::weft::{Follow, StatsRequest, SubmitRequest};
use weft_tasks::store::simulated::Disk;
use weft_tasks::{Settings, store};

use crate::outside::{FakeNames, FakeSigner, outside};
use crate::world::*;

/// A webhook at a name that nobody knows.
pub(crate) fn config(task: &str, id: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        task_id: task.into(),
        id: id.into(),
        url: "https://example.com/hook?key=q".into(),
        token: "t0ken".into(),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".into(),
            credentials: "s3cret-credentials".into(),
        }),
        ..TaskPushNotificationConfig::default()
    }
}

pub(crate) fn inline(request: SubmitRequest, config: TaskPushNotificationConfig) -> SubmitRequest {
    let push = Some(config);
    configured(
        request,
        SendMessageConfiguration { task_push_notification_config: push, ..Default::default() },
    )
}

async fn ended<S: store::Store>(world: &World<S>) -> String {
    let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
    let mut worker = world.worker(1).await;
    let item = worker.item().await;
    worker.append(&item, vec![status(TaskState::Completed)]).await;
    task.id
}

#[tokio::test(start_paused = true)]
async fn a_webhook_of_an_ended_task_is_set_read_replaced_and_deleted() {
    let world = simulated(&settings()).await;
    let task = ended(&world).await;
    let set = world.set(config(&task, "mine")).await.unwrap();
    assert_eq!(set, config(&task, "mine"));
    assert_eq!(world.get_push(&task, "mine").await.unwrap(), set);

    let chosen = world.set(config(&task, "")).await.unwrap();
    assert!(!chosen.id.is_empty() && chosen.id != "mine");
    let other = TaskPushNotificationConfig { authentication: None, ..config(&task, "mine") };
    world.set(other.clone()).await.unwrap();
    assert_eq!(world.get_push(&task, "mine").await.unwrap(), other);
    let mut listed = world.list_pushes(&task, 0, "").await.unwrap();
    listed.configs.sort_by_key(|config| config.id != "mine");
    assert_eq!((listed.configs, listed.next_page_token.as_str()), (vec![other, chosen], ""));

    for _ in 0..2 {
        world.delete_push(&task, "mine").await.unwrap();
    }
    assert_eq!(kind(&world.get_push(&task, "mine").await.unwrap_err()), Kind::TaskNotFound);
    assert_eq!(world.list_pushes(&task, 0, "").await.unwrap().configs.len(), 1);
    assert_eq!(world.pushed("local", &task).await.unwrap()[0].url, "https://example.com/hook");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_task_answers_as_an_unknown_one() {
    let world = simulated(&settings()).await;
    let task = SubmitRequest { owner: "other".into(), ..sends(says("m1"), Follow::None) };
    let foreign = world.submitted(task).await.unwrap().id;
    world.set_as("other", config(&foreign, "h")).await.unwrap();
    let unknown = "019f0e2a-7c11-7e54-8a3b-0123456789ab";
    let answers = async |task: &str| {
        let said = |status: Status| (kind(&status), status.message().replace(task, "ID"));
        [
            said(world.set(config(task, "h")).await.unwrap_err()),
            said(world.get_push(task, "h").await.unwrap_err()),
            said(world.list_pushes(task, 0, "").await.unwrap_err()),
            said(world.delete_push(task, "h").await.unwrap_err()),
            said(world.pushed("local", task).await.unwrap_err()),
        ]
    };
    let said = answers(unknown).await;
    assert!(said.iter().all(|(kind, _)| *kind == Kind::TaskNotFound), "{said:?}");
    assert_eq!(answers(&foreign).await, said);
    assert_eq!(world.list_pushes("", 0, "").await.map_err(|status| kind(&status)), Err(Kind::TaskNotFound));
}

#[tokio::test(start_paused = true)]
async fn a_task_holds_so_many_webhooks_and_no_more() {
    let world = simulated(&Settings { push_configs_max: 3, ..settings() }).await;
    let parked = SubmitRequest { start: Some(parked()), ..sends(says("m1"), Follow::None) };
    let task = world.submitted(parked).await.unwrap();
    for id in ["a", "b", "c"] {
        world.set(config(&task.id, id)).await.unwrap();
    }
    let full = world.set(config(&task.id, "d")).await.unwrap_err();
    assert_eq!(kind(&full), Kind::TooLarge);
    assert!(full.message().contains("tasks.push_configs_max"), "{}", full.message());
    let turn = inline(goes_on(&task, "m2", Follow::None), config("", ""));
    assert_eq!(kind(&world.submitted(turn).await.unwrap_err()), Kind::TooLarge);
    assert_eq!(world.get(&task.id).await.unwrap(), task);

    world.set(config(&task.id, "c")).await.unwrap();
    world.delete_push(&task.id, "a").await.unwrap();
    world.set(config(&task.id, "d")).await.unwrap();
    let turn = inline(goes_on(&task, "m3", Follow::None), config("", "d"));
    world.submitted(turn).await.unwrap();
    assert_eq!(world.list_pushes(&task.id, 0, "").await.unwrap().configs.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_webhooks_comes_in_pages() {
    let world = simulated(&settings()).await;
    let task = ended(&world).await;
    for id in ["d", "b", "e", "a", "c"] {
        world.set(config(&task, id)).await.unwrap();
    }
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let page = world.list_pushes(&task, 2, &token).await.unwrap();
        pages.push(page.configs.into_iter().map(|config| config.id).collect::<String>());
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(pages, ["ab", "cd", "e"]);
    for size in [-1, 101] {
        assert_eq!(field(&world.list_pushes(&task, size, "").await.unwrap_err()), "pageSize");
    }
    let token = world.list_pushes(&task, 2, "").await.unwrap().next_page_token;
    let other = ended(&world).await;
    for (task, token) in [(task.as_str(), "x"), (&other, &token)] {
        assert_eq!(field(&world.list_pushes(task, 2, token).await.unwrap_err()), "pageToken");
    }
}

#[tokio::test(start_paused = true)]
async fn addresses_that_may_not_be_called_are_refused_in_every_place_and_nothing_is_kept() {
    let names = FakeNames::default();
    names.know("inside.test", &[&["127.0.0.1"]]);
    let disk = Disk::default();
    let world = on_disk_with(&disk, &settings(), 1, outside(&FakeSigner::default(), &names)).await;
    let task = ended(&world).await;
    for url in [
        "http://127.0.0.1:9/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://017700000001/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http://user:pw@example.com/",
        "http://inside.test/",
        "",
    ] {
        let config = TaskPushNotificationConfig { url: url.into(), ..config(&task, "") };
        let refused = world.set(config.clone()).await.expect_err(url);
        assert_eq!((kind(&refused), field(&refused).as_str()), (Kind::Invalid, "url"), "{url}");
        let refused = world.submitted(inline(sends(says("m2"), Follow::None), config)).await.expect_err(url);
        assert_eq!(field(&refused), "configuration.taskPushNotificationConfig.url", "{url}");
    }
    assert!(world.list_pushes(&task, 0, "").await.unwrap().configs.is_empty());
    assert_eq!(world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner().tasks, 1);
}

#[tokio::test(start_paused = true)]
async fn secrets_that_could_end_a_header_line_are_refused() {
    let world = simulated(&settings()).await;
    let task = ended(&world).await;
    let authentication = |scheme: &str, credentials: &str| {
        let info = AuthenticationInfo { scheme: scheme.into(), credentials: credentials.into() };
        TaskPushNotificationConfig { authentication: Some(info), ..config(&task, "") }
    };
    let token = TaskPushNotificationConfig { token: "a\nb".into(), ..config(&task, "") };
    for (config, at) in [
        (authentication("Bearer", "x\r\nX-Evil: 1"), "authentication.credentials"),
        (authentication("Bearer\r\n", "x"), "authentication.scheme"),
        (authentication("", "x"), "authentication.scheme"),
        (token, "token"),
    ] {
        assert_eq!(field(&world.set(config.clone()).await.unwrap_err()), at);
        let refused = world.submitted(inline(sends(says("m2"), Follow::None), config)).await.unwrap_err();
        assert_eq!(field(&refused), format!("configuration.taskPushNotificationConfig.{at}"));
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_signer_nothing_secret_is_taken_and_the_rest_goes_on() {
    let signer = FakeSigner::default();
    let disk = Disk::default();
    let world = on_disk_with(&disk, &settings(), 1, outside(&signer, &FakeNames::default())).await;
    let task = ended(&world).await;
    world.set(config(&task, "kept")).await.unwrap();
    signer.down.store(true, Ordering::SeqCst);
    assert_eq!(kind(&world.set(config(&task, "new")).await.unwrap_err()), Kind::Unavailable);
    let refused = world.submitted(inline(sends(says("m2"), Follow::None), config("", ""))).await.unwrap_err();
    assert_eq!(kind(&refused), Kind::Unavailable);
    assert_eq!(world.client.clone().stats(StatsRequest {}).await.unwrap().into_inner().tasks, 1);
    assert_eq!(kind(&world.get_push(&task, "kept").await.unwrap_err()), Kind::Unavailable);
    let open =
        TaskPushNotificationConfig { token: String::new(), authentication: None, ..config(&task, "open") };
    world.set(open.clone()).await.unwrap();
    assert_eq!(world.get_push(&task, "open").await.unwrap(), open);
    world.delete_push(&task, "kept").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_acknowledged_survives_a_crash_with_its_message() {
    let disk = Disk::default();
    let world = on_disk(&disk, &settings(), 1).await;
    let task = world.submitted(inline(sends(says("m1"), Follow::None), config("", "i"))).await.unwrap();
    let parked = SubmitRequest { start: Some(parked()), ..sends(says("m2"), Follow::None) };
    let second = world.submitted(parked).await.unwrap();
    world.submitted(inline(goes_on(&second, "m3", Follow::None), config("", "j"))).await.unwrap();
    world.set(config(&second.id, "k")).await.unwrap();
    world.set(config(&second.id, "gone")).await.unwrap();
    world.delete_push(&second.id, "gone").await.unwrap();
    let after = disk.crash(0);
    world.env.stop().cancel();

    assert_eq!(after.check().problems, Vec::<String>::new());
    let world = on_disk(&after, &settings(), 2).await;
    assert_eq!(world.get_push(&task.id, "i").await.unwrap(), config(&task.id, "i"));
    let kept = world.list_pushes(&second.id, 0, "").await.unwrap().configs;
    assert_eq!(kept, [config(&second.id, "j"), config(&second.id, "k")]);
}

#[tokio::test(start_paused = true)]
async fn webhooks_go_with_their_task() {
    let disk = Disk::default();
    let world = on_disk(&disk, &Settings { keep_hours: 1, ..settings() }, 1).await;
    let task = ended(&world).await;
    world.set(config(&task, "a")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3_600 + 120)).await;
    assert_eq!(kind(&world.get(&task).await.unwrap_err()), Kind::TaskNotFound);
    assert_eq!(kind(&world.get_push(&task, "a").await.unwrap_err()), Kind::TaskNotFound);
    assert_eq!(disk.check().problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_lie_on_disk_only_wrapped_and_a_backup_keeps_webhooks() {
    let dir = tempfile::tempdir().unwrap();
    let set = {
        let world = embedded(dir.path(), &settings()).await;
        let set = config(&ended(&world).await, "a");
        world.set(set.clone()).await.unwrap();
        assert!(world.env.drain(Duration::from_secs(30)).await);
        world.handle.close().await;
        set
    };
    let holds = |text: &str| {
        let files = std::fs::read_dir(store::place(dir.path())).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        files.any(|path| std::fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()))
    };
    assert!(holds("example.com/hook") && !holds("s3cret-credentials") && !holds("t0ken"));

    let file = dir.path().join("backup");
    let saved = loop {
        match store::backup(dir.path(), &file) {
            Err(error) if error.0.contains("in use") => {}
            other => break other.unwrap(),
        }
    };
    let restored = tempfile::tempdir().unwrap();
    assert_eq!(store::restore(&file, restored.path()).unwrap(), saved);
    assert_eq!(store::check(restored.path()).unwrap().problems, Vec::<String>::new());
    let world = embedded(restored.path(), &settings()).await;
    assert_eq!(world.get_push(&set.task_id, "a").await.unwrap(), set);
}
