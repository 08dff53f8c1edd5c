//! Somebody else's task is as unknown as none: the same answer, after the same reads of the store.

use weft_core::Kind;
use weft_proto::a2a::{
    DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, Message, Task, TaskPushNotificationConfig,
};
use weft_proto::weft::{
    CancelRequest, DeletePushConfigRequest, Follow, GetPushConfigRequest, GetRequest, ListPushConfigsRequest,
    PushStatusRequest, SetPushConfigRequest, SubmitRequest, SubscribeRequest,
};
use weft_tasks::store::simulated::Disk;

use crate::world::*;

const OPERATIONS: [&str; 10] = [
    "get",
    "cancel",
    "subscribe",
    "resume",
    "send",
    "set webhook",
    "get webhook",
    "list webhooks",
    "delete webhook",
    "webhooks' deliveries",
];

/// Asks for a task as this owner; what comes of it, with the task's id left out.
async fn asks(world: &World, operation: &str, owner: &str, task: &str) -> (tonic::Code, String, Vec<u8>) {
    let mut client = world.client.clone();
    let (owner, task_id) = (owner.to_owned(), task.to_owned());
    let refused = match operation {
        "get" => client.get(GetRequest { owner, task_id, history_length: None }).await.err(),
        "cancel" => client.cancel(CancelRequest { owner, task_id, metadata: None }).await.err(),
        "subscribe" => client.subscribe(SubscribeRequest { owner, task_id, after: None }).await.err(),
        "resume" => client.subscribe(SubscribeRequest { owner, task_id, after: Some(0) }).await.err(),
        "send" => {
            let message = Message { task_id, ..says("more") };
            client.submit(SubmitRequest { owner, ..sends(message, Follow::None) }).await.err()
        }
        "set webhook" => {
            let url = "https://93.184.215.14/hook".into();
            let config = TaskPushNotificationConfig { task_id, url, id: "h".into(), ..Default::default() };
            client.set_push_config(SetPushConfigRequest { owner, config: Some(config) }).await.err()
        }
        "get webhook" => {
            let request =
                GetTaskPushNotificationConfigRequest { task_id, id: "h".into(), ..Default::default() };
            client.get_push_config(GetPushConfigRequest { owner, request: Some(request) }).await.err()
        }
        "list webhooks" => {
            let request = ListTaskPushNotificationConfigsRequest { task_id, ..Default::default() };
            client.list_push_configs(ListPushConfigsRequest { owner, request: Some(request) }).await.err()
        }
        "delete webhook" => {
            let request =
                DeleteTaskPushNotificationConfigRequest { task_id, id: "h".into(), ..Default::default() };
            client.delete_push_config(DeletePushConfigRequest { owner, request: Some(request) }).await.err()
        }
        "webhooks' deliveries" => {
            client.push_status(PushStatusRequest { owner, task_id, ..Default::default() }).await.err()
        }
        other => panic!("{other}"),
    };
    let refused = refused.unwrap_or_else(|| panic!("{operation} of {task} was answered"));
    assert_eq!(kind(&refused), Kind::TaskNotFound, "{operation}");
    let id = task.as_bytes();
    let mut details = refused.details().to_vec();
    while let Some(at) = details.windows(id.len()).position(|window| window == id) {
        details.drain(at..at + id.len());
    }
    (refused.code(), refused.message().replace(task, ""), details)
}

/// Tasks of another owner: one that waits, one that a worker has, one that waits for its caller, one that ended.
async fn foreign(world: &World) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (id, start) in [("m1", None), ("m2", Some(parked())), ("m3", None)] {
        let request = SubmitRequest { owner: "p:ci".into(), ..sends(says(id), Follow::None) };
        let request = SubmitRequest { start: start.or(request.start.clone()), ..request };
        tasks.push(world.submitted(request).await.unwrap());
    }
    let cancel = CancelRequest { owner: "p:ci".into(), task_id: tasks[2].id.clone(), metadata: None };
    world.client.clone().cancel(cancel).await.unwrap();
    let config = TaskPushNotificationConfig {
        task_id: tasks[2].id.clone(),
        url: "https://93.184.215.14/hook".into(),
        id: "h".into(),
        ..Default::default()
    };
    world.set_as("p:ci", config).await.unwrap();
    tasks
}

#[tokio::test(start_paused = true)]
async fn foreign_and_unknown_ids_cause_the_same_reads_and_the_same_answer_for_every_operation() {
    let disk = Disk::default();
    let world = on_disk(&disk, &settings(), 1).await;
    let tasks = foreign(&world).await;
    let unknown = "019f0e2a-7c11-7e54-8a3b-0123456789ab";
    // Once with the tasks in memory, once with all of them on disk alone; twice, since the first look must not tell.
    let cold = disk.crash(0);
    let restarted = on_disk(&cold, &settings(), 2).await;
    for (disk, world, when) in [(&disk, &world, "in memory"), (&cold, &restarted, "on disk")] {
        for operation in OPERATIONS {
            let count = async |task: &str| {
                let before = disk.reads();
                let said = asks(world, operation, "local", task).await;
                (disk.reads() - before, said)
            };
            let expected = count(unknown).await;
            assert!(expected.0 > 0, "the count sees the reads of {operation}");
            for round in 0..2 {
                for (at, task) in tasks.iter().enumerate() {
                    assert_eq!(count(&task.id).await, expected, "{operation}, {when}, task {at}, {round}");
                }
            }
            assert_eq!(count(unknown).await, expected, "{operation}, {when}");
        }
    }
    // Their owner has them as they were.
    for task in &tasks[..2] {
        assert_eq!(&restarted.get_as("p:ci", &task.id).await.unwrap(), task);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tenant_is_a_space_of_its_own() {
    let disk = Disk::default();
    let world = on_disk(&disk, &settings(), 1).await;
    let tasks = foreign(&world).await;
    for owner in ["crm/p:ci", "p:c", "p:ci/"] {
        for operation in OPERATIONS {
            asks(&world, operation, owner, &tasks[1].id).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_key_of_another_owner_is_no_clash() {
    let world = simulated(&settings()).await;
    let keyed = |owner: &str, id: &str| SubmitRequest {
        owner: owner.into(),
        idempotency_key: "k".into(),
        replay_by_message_id: true,
        ..sends(says(id), Follow::None)
    };
    let first = world.submitted(keyed("p:ci", "m1")).await.unwrap();
    for owner in ["p:other", "crm/p:ci", "anon:x", "local"] {
        // Another message under the same key, and the same message id with another content.
        let task = world.submitted(keyed(owner, "m2")).await.unwrap();
        assert_ne!(task.id, first.id);
        let mut same_id = SubmitRequest { idempotency_key: String::new(), ..keyed(owner, "m1") };
        same_id.request.as_mut().unwrap().message.as_mut().unwrap().parts = vec![text("something else")];
        assert_ne!(world.submitted(same_id).await.unwrap().id, first.id);
    }
    assert_eq!(world.submitted(keyed("p:ci", "m1")).await.unwrap().id, first.id);
    assert_eq!(kind(&world.submitted(keyed("p:ci", "m2")).await.unwrap_err()), Kind::Conflict);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_look_does_not_take_a_task_from_those_who_use_it() {
    let world = simulated(&settings()).await;
    let tasks = foreign(&world).await;
    let request = SubscribeRequest { owner: "p:ci".into(), task_id: tasks[1].id.clone(), after: None };
    let mut follows = world.client.clone().subscribe(request).await.unwrap().into_inner();
    follows.message().await.unwrap().unwrap();
    for operation in OPERATIONS {
        asks(&world, operation, "local", &tasks[1].id).await;
    }
    // The reader hears of what its owner does.
    let cancel = CancelRequest { owner: "p:ci".into(), task_id: tasks[1].id.clone(), metadata: None };
    world.client.clone().cancel(cancel).await.unwrap();
    let (read, error) = rest(follows).await;
    assert!(error.is_none());
    assert_eq!(read.last().and_then(state_of), Some(weft_proto::a2a::TaskState::Canceled));
}
