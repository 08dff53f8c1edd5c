//! What must hold over every binding.

use a2a::error_code::{TASK_NOT_CANCELABLE, TASK_NOT_FOUND, UNSUPPORTED_OPERATION};
use a2a::{
    A2AError, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message,
    Part, Role, StreamResponse, TaskPushNotificationConfig, TaskState,
};
use futures::StreamExt as _;

use crate::mesh::{Mesh, drain, request};
use crate::report::{Check, Reason, equal};

pub const CHECKS: &[Check] = &[
    ("a blocking message comes back as a completed task with its artifact", |mesh| Box::pin(completes(mesh))),
    ("a stream begins with the task and ends with its completion", |mesh| Box::pin(streams(mesh))),
    ("the chunks of an artifact arrive in order and are kept whole", |mesh| Box::pin(chunks(mesh))),
    ("a task that asks for input is completed by the answer", |mesh| Box::pin(answers(mesh))),
    ("pages list every task of a context once", |mesh| Box::pin(lists(mesh))),
    ("a subscriber sees the running task, then its events to the end", |mesh| Box::pin(subscribes(mesh))),
    ("a completed task can be neither canceled nor subscribed to", |mesh| Box::pin(refuses(mesh))),
    ("an unknown task is not found", |mesh| Box::pin(misses(mesh))),
    ("the extended card holds what the public card does", |mesh| Box::pin(extends(mesh))),
    ("a node is an agent of its own, whose tasks the mesh does not see", |mesh| Box::pin(separates(mesh))),
    ("push configurations are kept, found, listed and removed", |mesh| Box::pin(pushes(mesh))),
];

async fn completes(mesh: &Mesh) -> Result<(), Reason> {
    let sent = mesh.send(request("echo hello mesh")).await?;
    let task = mesh.get(&sent.id).await?;
    equal("state", &task.status.state, &TaskState::Completed)?;
    let artifacts = task.artifacts.unwrap_or_default();
    equal("artifact", artifacts.first().and_then(|a| a.parts[0].as_text()), Some("echo hello mesh"))?;
    let history = task.history.unwrap_or_default();
    equal("first message", history.first().and_then(Message::text), Some("echo hello mesh"))
}

async fn streams(mesh: &Mesh) -> Result<(), Reason> {
    let events = mesh.stream("echo hello mesh").await?;
    equal("first event is a task", matches!(events.first(), Some(StreamResponse::Task(_))), true)?;
    is_state(events.last(), TaskState::Completed)
}

async fn chunks(mesh: &Mesh) -> Result<(), Reason> {
    let events = mesh.stream("chunks").await?;
    let Some(StreamResponse::Task(task)) = events.first() else {
        return Err("the first event is no task".into());
    };
    let mut streamed = Vec::new();
    for event in &events {
        if let StreamResponse::ArtifactUpdate(chunk) = event {
            equal("append", chunk.append.unwrap_or_default(), !streamed.is_empty())?;
            streamed.extend(chunk.artifact.parts.clone());
        }
    }
    equal("number of chunks", streamed.len(), 3)?;
    let kept = mesh.get(&task.id).await?.artifacts.unwrap_or_default();
    equal("kept parts", kept.first().map(|artifact| &artifact.parts), Some(&streamed))
}

async fn answers(mesh: &Mesh) -> Result<(), Reason> {
    let asked = mesh.send(request("ask")).await?;
    equal("state", &asked.status.state, &TaskState::InputRequired)?;
    let mut reply = request("blue");
    reply.message = Message::new(Role::User, vec![Part::text("blue")]);
    reply.message.task_id = Some(asked.id.clone());
    let answered = mesh.send(reply).await?;
    equal("id", answered.id, asked.id)?;
    equal("state", answered.status.state, TaskState::Completed)
}

async fn lists(mesh: &Mesh) -> Result<(), Reason> {
    let (mut sent, mut listed, mut context) = (Vec::new(), Vec::new(), None);
    for _ in 0..3 {
        let mut request = request("echo");
        request.message.context_id = context;
        let task = mesh.send(request).await?;
        context = Some(task.context_id);
        sent.insert(0, task.id);
    }
    let mut query = ListTasksRequest {
        context_id: context,
        status: None,
        page_size: Some(2),
        page_token: None,
        history_length: None,
        status_timestamp_after: None,
        include_artifacts: None,
        tenant: None,
    };
    while query.page_token.as_deref() != Some("") {
        let page = mesh.client.list_tasks(&query).await?;
        equal("totalSize", page.total_size, 3)?;
        listed.extend(page.tasks.into_iter().map(|task| task.id));
        query.page_token = Some(page.next_page_token);
    }
    equal("tasks, newest first", listed, sent)
}

async fn subscribes(mesh: &Mesh) -> Result<(), Reason> {
    let task = mesh.start_slow().await?;
    let mut events = mesh.subscribe(&task.id).await?;
    match events.next().await.ok_or("the stream is empty")?? {
        StreamResponse::Task(snapshot) => equal("id", &snapshot.id, &task.id)?,
        other => return Err(format!("the first event is {other:?}").into()),
    }
    equal("state", mesh.cancel(&task.id).await?.status.state, TaskState::Canceled)?;
    is_state(drain(events).await?.last(), TaskState::Canceled)
}

async fn refuses(mesh: &Mesh) -> Result<(), Reason> {
    let task = mesh.send(request("echo")).await?;
    fails(TASK_NOT_CANCELABLE, mesh.cancel(&task.id).await)?;
    fails(UNSUPPORTED_OPERATION, subscribed(mesh, &task.id).await)
}

async fn misses(mesh: &Mesh) -> Result<(), Reason> {
    let unknown = a2a::new_task_id();
    fails(TASK_NOT_FOUND, mesh.get(&unknown).await)?;
    fails(TASK_NOT_FOUND, mesh.cancel(&unknown).await)?;
    fails(TASK_NOT_FOUND, subscribed(mesh, &unknown).await)
}

async fn extends(mesh: &Mesh) -> Result<(), Reason> {
    let card = mesh.client.get_extended_agent_card(&GetExtendedAgentCardRequest { tenant: None }).await?;
    equal("name", &card.name, &mesh.card.name)?;
    equal("number of skills", card.skills.len(), mesh.card.skills.len())
}

async fn separates(mesh: &Mesh) -> Result<(), Reason> {
    let node = Mesh::open(&format!("{}/agents/scenario", mesh.base), &mesh.binding).await?;
    let theirs = node.send(request("echo")).await?;
    fails(TASK_NOT_FOUND, mesh.get(&theirs.id).await)?;
    if mesh.binding == "HTTP+JSON" {
        // The SDK leaves the tenant out of a GET.
        return Ok(());
    }
    let ours = mesh.send(request("echo")).await?;
    equal("id", &node.get(&theirs.id).await?.id, &theirs.id)?;
    fails(TASK_NOT_FOUND, node.get(&ours.id).await)
}

async fn pushes(mesh: &Mesh) -> Result<(), Reason> {
    let task_id = mesh.start_slow().await?.id;
    let config = TaskPushNotificationConfig {
        url: "https://webhook.invalid/hook".to_owned(),
        id: Some("first".to_owned()),
        task_id: task_id.clone(),
        token: Some("t".to_owned()),
        authentication: None,
        tenant: None,
    };
    let id = "first".to_owned();
    let one = GetTaskPushNotificationConfigRequest { task_id: task_id.clone(), id: id.clone(), tenant: None };
    let gone = DeleteTaskPushNotificationConfigRequest { task_id: task_id.clone(), id, tenant: None };
    let every = ListTaskPushNotificationConfigsRequest {
        task_id: task_id.clone(),
        page_size: None,
        page_token: None,
        tenant: None,
    };
    mesh.client.create_push_config(&config).await?;
    equal("url", mesh.client.get_push_config(&one).await?.url, config.url)?;
    for left in [1, 0] {
        equal("number of configurations", mesh.client.list_push_configs(&every).await?.configs.len(), left)?;
        mesh.client.delete_push_config(&gone).await?;
    }
    mesh.cancel(&task_id).await?;
    Ok(())
}

/// A subscription that fails does so at once or as its first event, by binding.
async fn subscribed(mesh: &Mesh, id: &str) -> Result<Vec<StreamResponse>, A2AError> {
    drain(mesh.subscribe(id).await?).await
}

fn is_state(event: Option<&StreamResponse>, expected: TaskState) -> Result<(), Reason> {
    match event {
        Some(StreamResponse::StatusUpdate(update)) => equal("state", &update.status.state, &expected),
        other => Err(format!("the last event is {other:?}, not a status").into()),
    }
}

fn fails<T: std::fmt::Debug>(code: i32, answer: Result<T, A2AError>) -> Result<(), Reason> {
    match answer {
        Err(error) => equal(&format!("code of \"{error}\""), error.code, code),
        Ok(answer) => Err(format!("error {code} was expected, not {answer:?}").into()),
    }
}
