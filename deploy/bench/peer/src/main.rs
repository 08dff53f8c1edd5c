//! An echo agent on the official Rust SDK with its in-memory store, JSON-RPC at `/a2a`.

use std::sync::Arc;

use a2a::{
    A2AError, AgentCapabilities, Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use a2a_server::jsonrpc::jsonrpc_router;
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore};
use axum::serve::ListenerExt;
use futures::stream::{self, BoxStream};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".into());
    let listener = TcpListener::bind(&address).await?;
    println!("http://{}/a2a", listener.local_addr()?);

    let capabilities = AgentCapabilities { streaming: Some(true), ..Default::default() };
    let handler = DefaultRequestHandler::new(Echo, InMemoryTaskStore::new()).with_capabilities(capabilities);
    let app = axum::Router::new().nest("/a2a", jsonrpc_router(Arc::new(handler)));
    // Without this every stream's second write waits 40 ms for an acknowledgement; the comparison is with the SDK at its best.
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true); // a socket that is already gone is noticed by the next read
    });
    axum::serve(listener, app).await
}

/// Answers every message with one artifact that repeats its parts, then completes: the same four events as the mesh's echo.
struct Echo;

impl AgentExecutor for Echo {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let parts = context.message.as_ref().map(|message| message.parts.clone()).unwrap_or_default();
        let task = Task {
            id: context.task_id.clone(),
            context_id: context.context_id.clone(),
            status: status(TaskState::Submitted),
            artifacts: None,
            history: context.message.clone().map(|message| vec![message]),
            metadata: None,
        };
        let events = [
            StreamResponse::Task(task),
            update(&context, TaskState::Working),
            StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: context.task_id.clone(),
                context_id: context.context_id.clone(),
                artifact: echo(parts),
                append: None,
                last_chunk: Some(true),
                metadata: None,
            }),
            update(&context, TaskState::Completed),
        ];
        Box::pin(stream::iter(events.map(Ok)))
    }

    fn cancel(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        Box::pin(stream::iter([Ok(update(&context, TaskState::Canceled))]))
    }
}

fn echo(parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: "echo".into(),
        name: Some("echo".into()),
        description: None,
        parts,
        metadata: None,
        extensions: None,
    }
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus { state, message: None, timestamp: Some(chrono::Utc::now()) }
}

fn update(context: &ExecutorContext, state: TaskState) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: context.task_id.clone(),
        context_id: context.context_id.clone(),
        status: status(state),
        metadata: None,
    })
}
