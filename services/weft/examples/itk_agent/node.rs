//! The node of this process: `POST /peer/invoke`, answered with the steps of a played instruction.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use weft_client::Client;
use weft_proto::a2a::{Message, Part, Role, TaskState, TaskStatus, part::Content};
use weft_proto::weft::{InvokeEvent, InvokeRequest, InvokeResult, Progress, invoke_event, progress};

use crate::instruction::Instruction;
use crate::play;

/// A held task says something this often, so many times.
const HOLD: (Duration, usize) = (Duration::from_secs(2), 30);

pub(crate) fn router(client: Client) -> Router {
    let invoke = move |body: Bytes| {
        let client = client.clone();
        async move {
            let request = weft_proto::json::decode::<InvokeRequest>(&body).unwrap_or_default();
            Sse::new(answer(client, request))
        }
    };
    Router::new().route("/peer/invoke", post(invoke)).route("/peer/about", get(about))
}

async fn about() -> Json<Value> {
    Json(json!({ "node": "itk", "name": "ITK", "role": "test", "version": "1.0.0",
                 "tools": [{ "name": "itk.play", "description": "plays an instruction", "readOnly": true }] }))
}

fn answer(client: Client, request: InvokeRequest) -> impl Stream<Item = Result<Event, Infallible>> {
    let played = stream::once(played(client, request)).flatten();
    played.map(|event| {
        let text = weft_proto::json::encode_string(&event).unwrap_or_default();
        Ok(Event::default().data(text))
    })
}

/// The steps of an instruction: what came of it and, if it is to be held, that again and again.
async fn played(client: Client, request: InvokeRequest) -> stream::BoxStream<'static, InvokeEvent> {
    let message = request.message.clone().unwrap_or_default();
    let Some(instruction) = Instruction::of(&message) else {
        let failed = step(&request, 0, TaskState::Failed, "there is no instruction in the message");
        return stream::iter([failed, result()]).boxed();
    };
    let said = match play::play(&client, &instruction).await {
        Ok(said) => said.join("\n"),
        Err(error) => {
            return stream::iter([step(&request, 0, TaskState::Failed, &error), result()]).boxed();
        }
    };
    if !instruction.holds() {
        return stream::iter([step(&request, 0, TaskState::Completed, &said), result()]).boxed();
    }
    let held = format!("{said}\ntask-finished");
    let (pause, times) = HOLD;
    let last = step(&request, times, TaskState::Completed, &said);
    let steps = stream::iter(0..times).then(move |n| {
        let next = step(&request, n, TaskState::Working, &held);
        async move {
            if n > 0 {
                tokio::time::sleep(pause).await;
            }
            next
        }
    });
    steps.chain(stream::iter([last, result()])).boxed()
}

fn step(request: &InvokeRequest, n: usize, state: TaskState, text: &str) -> InvokeEvent {
    let part = Part { content: Some(Content::Text(text.to_owned())), ..Part::default() };
    let message = Message {
        message_id: format!("{}-{}-{n}", request.idempotency_key, request.attempt),
        task_id: request.task_id.clone(),
        context_id: request.context_id.clone(),
        role: Role::Agent as i32,
        parts: vec![part],
        ..Message::default()
    };
    let status = TaskStatus { state: state as i32, message: Some(message), timestamp: None };
    let progress = Progress { step: Some(progress::Step::Status(status)), metadata: None };
    InvokeEvent { event: Some(invoke_event::Event::Progress(progress)) }
}

fn result() -> InvokeEvent {
    let result = InvokeResult { ok: true, ..InvokeResult::default() };
    InvokeEvent { event: Some(invoke_event::Event::Result(result)) }
}
