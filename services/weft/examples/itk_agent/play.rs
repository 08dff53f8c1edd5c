//! An instruction, played: other agents are called with the mesh's own client, over exactly the binding it names.

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use prost::Message as _;
use weft_client::{Agent, Binding, Call, Client};
use weft_proto::a2a::{
    CancelTaskRequest, Message, Part, Role, SendMessageConfiguration, SendMessageRequest, StreamResponse,
    Task, TaskPushNotificationConfig, part::Content, send_message_response, stream_response::Payload,
};

use crate::instruction::{Behavior, CallAgent, Instruction, Step};

/// Ends what a held task says.
const FINISHED: &str = "task-finished";

/// What was said, in order.
pub(crate) fn play<'a>(
    client: &'a Client,
    instruction: &'a Instruction,
) -> BoxFuture<'a, Result<Vec<String>, String>> {
    async move {
        match &instruction.step {
            None => Err("the instruction says nothing".to_owned()),
            Some(Step::ReturnResponse(response)) => Ok(vec![response.response.clone()]),
            Some(Step::CallAgent(call)) => call_agent(client, call).await,
            Some(Step::Steps(series)) => {
                let mut said = Vec::new();
                for step in &series.instructions {
                    said.extend(play(client, step).await?);
                }
                Ok(said)
            }
        }
    }
    .boxed()
}

async fn call_agent(client: &Client, call: &CallAgent) -> Result<Vec<String>, String> {
    let binding: Binding = call.transport.parse()?;
    let failed = |error: weft_client::Error| format!("calling {}: {error}", call.agent_card_uri);
    let agent = client.agent(&call.agent_card_uri, &[binding]).await.map_err(failed)?;
    let request = request(call);
    match &call.behavior {
        Some(Behavior::Resubscribe(_)) => resubscribe(&agent, request).await,
        _ if call.streaming => stream(&agent, request).await,
        _ => send(&agent, request).await,
    }
    .map_err(failed)
}

fn request(call: &CallAgent) -> SendMessageRequest {
    let instruction = call.instruction.as_deref().cloned().unwrap_or_default();
    let part = Part {
        content: Some(Content::Raw(instruction.encode_to_vec())),
        media_type: Instruction::MEDIA_TYPE.to_owned(),
        filename: Instruction::FILENAME.to_owned(),
        ..Part::default()
    };
    let push = match &call.behavior {
        Some(Behavior::PushNotification(push)) => {
            let scheme = if push.url.starts_with("http") { "" } else { "http://" };
            Some(TaskPushNotificationConfig {
                url: format!("{scheme}{}/notifications", push.url),
                token: "itk-token".to_owned(),
                ..TaskPushNotificationConfig::default()
            })
        }
        _ => None,
    };
    SendMessageRequest {
        message: Some(Message {
            message_id: weft_chassis::Env::system().id(),
            role: Role::User as i32,
            parts: vec![part],
            ..Message::default()
        }),
        configuration: Some(SendMessageConfiguration {
            task_push_notification_config: push,
            ..SendMessageConfiguration::default()
        }),
        ..SendMessageRequest::default()
    }
}

async fn send(agent: &Agent, request: SendMessageRequest) -> Result<Vec<String>, weft_client::Error> {
    let answer = agent.send(request, &Call::default()).await?.body;
    Ok(match answer.payload {
        Some(send_message_response::Payload::Message(message)) => texts(&message),
        Some(send_message_response::Payload::Task(task)) => status_texts(&task),
        None => Vec::new(),
    })
}

async fn stream(agent: &Agent, request: SendMessageRequest) -> Result<Vec<String>, weft_client::Error> {
    let mut said = Vec::new();
    let mut events = agent.stream(request, &Call::default()).await?;
    while let Some(event) = events.next().await {
        said.extend(event_texts(&event?.body));
    }
    Ok(said)
}

/// Drops the stream after its first event, takes it up again, reads until the task says that it is finished, and ends
/// it.
async fn resubscribe(agent: &Agent, request: SendMessageRequest) -> Result<Vec<String>, weft_client::Error> {
    let call = Call::default();
    let mut events = agent.stream(request, &call).await?;
    let mut task_id = String::new();
    if let Some(event) = events.next().await {
        task_id = id(&event?.body);
    }
    drop(events);
    let mut said = Vec::new();
    let mut events = agent.subscribe(&task_id, &call).await?;
    while let Some(event) = events.next().await {
        let body = event?.body;
        let mut texts = event_texts(&body);
        if let Some(Payload::Task(task)) = &body.payload {
            let history = task.history.iter().filter(|message| message.role() == Role::Agent);
            texts.extend(history.flat_map(self::texts));
        }
        let finished = texts.iter().find(|text| text.contains(FINISHED));
        if let Some(last) = finished {
            said.push(last.replace(FINISHED, ""));
            break;
        }
        said.extend(texts);
    }
    drop(events);
    agent.cancel_task(CancelTaskRequest { id: task_id, ..CancelTaskRequest::default() }, &call).await?;
    Ok(said)
}

fn id(event: &StreamResponse) -> String {
    match &event.payload {
        Some(Payload::Task(task)) => task.id.clone(),
        Some(Payload::StatusUpdate(update)) => update.task_id.clone(),
        Some(Payload::ArtifactUpdate(update)) => update.task_id.clone(),
        Some(Payload::Message(message)) => message.task_id.clone(),
        None => String::new(),
    }
}

fn event_texts(event: &StreamResponse) -> Vec<String> {
    match &event.payload {
        Some(Payload::Message(message)) => texts(message),
        Some(Payload::Task(task)) => status_texts(task),
        Some(Payload::StatusUpdate(update)) => {
            let message = update.status.as_ref().and_then(|status| status.message.as_ref());
            message.map(texts).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn status_texts(task: &Task) -> Vec<String> {
    let message = task.status.as_ref().and_then(|status| status.message.as_ref());
    message.map(texts).unwrap_or_default()
}

fn texts(message: &Message) -> Vec<String> {
    let text = |part: &Part| match &part.content {
        Some(Content::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    message.parts.iter().filter_map(text).collect()
}
