//! `weft card|send|stream|tasks …`: what an A2A client does, from a shell.

use clap::{Args, Subcommand};
use futures::StreamExt;
use weft_client::{Call, Follow};
use weft_proto::a2a::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, Message, Part, Role,
    SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskState, part::Content,
    send_message_response, stream_response::Payload,
};
use weft_proto::wkt;

use super::Failure;
use super::out::{Out, state_word};
use super::remote::Remote;

/// A message, from the command line.
#[derive(Debug, Args)]
pub(super) struct Outgoing {
    #[command(flatten)]
    remote: Remote,
    /// What to say; may be left out with --skill
    text: Option<String>,
    /// Capability to use (see `weft card`); without it the text decides
    #[arg(long)]
    skill: Option<String>,
    /// Arguments for the capability, a JSON object
    #[arg(long, value_name = "JSON", requires = "skill")]
    arguments: Option<String>,
    /// Continue this task
    #[arg(long)]
    task: Option<String>,
    /// Put the task into this context
    #[arg(long)]
    context: Option<String>,
    /// Key under which a repeat gives the same task, 1 to 256 visible characters
    #[arg(long)]
    idempotency_key: Option<String>,
    /// Do not wait for the result (`send` only)
    #[arg(long)]
    return_immediately: bool,
}

/// Commands over tasks.
#[derive(Debug, Subcommand)]
pub(super) enum TasksCommand {
    /// One task
    Get {
        /// Task id
        id: String,
        /// At most this many most recent history messages
        #[arg(long)]
        history: Option<i32>,
        #[command(flatten)]
        remote: Remote,
    },
    /// Tasks, newest first
    List {
        /// Only tasks of this context
        #[arg(long)]
        context: Option<String>,
        /// Only tasks in this state, for example `working`
        #[arg(long)]
        state: Option<String>,
        /// Tasks a page, 1 to 100
        #[arg(long, default_value_t = 50)]
        page_size: i32,
        /// Continue after this page
        #[arg(long)]
        page_token: Option<String>,
        #[command(flatten)]
        remote: Remote,
    },
    /// Cancel a task
    Cancel {
        /// Task id
        id: String,
        #[command(flatten)]
        remote: Remote,
    },
    /// Follow a task until it ends
    Watch {
        /// Task id
        id: String,
        #[command(flatten)]
        remote: Remote,
    },
}

/// `weft card`.
pub(super) async fn card(remote: Remote) -> Result<(), Failure> {
    let (out, found) = (remote.out(), remote.card().await?);
    if out.is_json() {
        // All of it, the fields that nobody here knows too.
        out.line(&found.raw.to_string());
        return Ok(());
    }
    let card = &found.card;
    out.line(&format!("{} {}\n{}\n", card.name, card.version, card.description));
    for interface in &card.supported_interfaces {
        out.line(&format!("{:<10} {}", interface.protocol_binding, interface.url));
    }
    for skill in &card.skills {
        out.line(&format!("\n{}  {}\n  {}", skill.id, skill.name, skill.description));
        if let Some(example) = skill.examples.first() {
            out.line(&format!("  try: weft send \"{example}\""));
        }
    }
    Ok(())
}

/// `weft send`.
pub(super) async fn send(outgoing: Outgoing) -> Result<(), Failure> {
    let (remote, out) = (&outgoing.remote, outgoing.remote.out());
    let (request, call) = (outgoing.request()?, outgoing.call());
    let sent = remote.agent().await?.send(request, &call).await;
    let answer = sent.map_err(|error| remote.failure(&error))?.body;
    match &answer.payload {
        _ if out.is_json() => out.message(&answer),
        Some(send_message_response::Payload::Task(task)) => out.task(task),
        Some(send_message_response::Payload::Message(message)) => {
            out.event(&StreamResponse { payload: Some(Payload::Message(message.clone())) });
        }
        None => return Err(Failure::Refused("the answer holds neither task nor message".to_owned())),
    }
    match answer.payload {
        Some(send_message_response::Payload::Task(task)) => successful(state_of(&task)),
        _ => Ok(()),
    }
}

/// `weft stream`.
pub(super) async fn stream(outgoing: Outgoing) -> Result<(), Failure> {
    let (remote, request) = (&outgoing.remote, outgoing.request()?);
    let events = remote.agent().await?.stream(request, &outgoing.call()).await;
    follow(events.map_err(|error| remote.failure(&error))?, remote).await
}

/// `weft tasks …`.
pub(super) async fn tasks(command: TasksCommand) -> Result<(), Failure> {
    let call = Call::default();
    match command {
        TasksCommand::Get { id, history, remote } => {
            let request = GetTaskRequest { id, history_length: history, ..Default::default() };
            let task = remote.agent().await?.get_task(request, &call).await;
            remote.out().task(&task.map_err(|error| remote.failure(&error))?.body);
            Ok(())
        }
        TasksCommand::List { context, state, page_size, page_token, remote } => {
            let request = ListTasksRequest {
                context_id: context.unwrap_or_default(),
                status: state.as_deref().map(state_named).transpose()?.unwrap_or_default(),
                page_size: Some(page_size),
                page_token: page_token.unwrap_or_default(),
                ..Default::default()
            };
            let page = remote.agent().await?.list_tasks(request, &call).await;
            print_page(&page.map_err(|error| remote.failure(&error))?.body, &remote.out());
            Ok(())
        }
        TasksCommand::Cancel { id, remote } => {
            let request = CancelTaskRequest { id, ..Default::default() };
            let task = remote.agent().await?.cancel_task(request, &call).await;
            remote.out().task(&task.map_err(|error| remote.failure(&error))?.body);
            Ok(())
        }
        TasksCommand::Watch { id, remote } => {
            let events = remote.agent().await?.subscribe(&id, &call).await;
            follow(events.map_err(|error| remote.failure(&error))?, &remote).await
        }
    }
}

async fn follow(mut events: Follow, remote: &Remote) -> Result<(), Failure> {
    let out = remote.out();
    let mut last = TaskState::Unspecified;
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| remote.failure(&error))?.body;
        out.event(&event);
        last = match &event.payload {
            Some(Payload::Task(task)) => state_of(task),
            Some(Payload::StatusUpdate(update)) => update.status.as_ref().map_or(last, |s| s.state()),
            Some(Payload::Message(_)) => TaskState::Completed,
            _ => last,
        };
    }
    successful(last)
}

fn print_page(page: &ListTasksResponse, out: &Out) {
    if out.is_json() {
        return out.message(page);
    }
    for task in &page.tasks {
        let time = task
            .status
            .as_ref()
            .and_then(|status| status.timestamp)
            .map(|t| t.to_string())
            .unwrap_or_default();
        out.line(&format!("{}  {:<15}  {time}", task.id, state_word(state_of(task) as i32)));
    }
    out.line(&format!("{} of {}", page.tasks.len(), page.total_size));
    if !page.next_page_token.is_empty() {
        out.line(&format!("more: --page-token {}", page.next_page_token));
    }
}

fn successful(state: TaskState) -> Result<(), Failure> {
    match state {
        TaskState::Failed | TaskState::Rejected | TaskState::Canceled => Err(Failure::TaskUnsuccessful),
        _ => Ok(()),
    }
}

fn state_of(task: &Task) -> TaskState {
    task.status.as_ref().map_or(TaskState::Unspecified, |status| status.state())
}

fn state_named(word: &str) -> Result<i32, Failure> {
    let name = format!("TASK_STATE_{}", word.to_uppercase().replace([' ', '-'], "_"));
    TaskState::from_str_name(&name).map(|state| state as i32).ok_or_else(|| {
        Failure::Usage(format!(
            "--state {word}: must be submitted, working, completed, failed, canceled, input-required, rejected or \
             auth-required"
        ))
    })
}

impl Outgoing {
    fn call(&self) -> Call {
        Call { idempotency_key: self.idempotency_key.clone(), ..Call::default() }
    }

    fn request(&self) -> Result<SendMessageRequest, Failure> {
        let mut parts = Vec::new();
        if let Some(text) = &self.text {
            parts.push(Part { content: Some(Content::Text(text.clone())), ..Default::default() });
        }
        if let Some(skill) = &self.skill {
            let data = serde_json::json!({ "skill": skill, "arguments": self.parsed_arguments()? });
            let value =
                wkt::Value::try_from(data).map_err(|e| Failure::Usage(format!("--arguments: {e}")))?;
            parts.push(Part { content: Some(Content::Data(value)), ..Default::default() });
        }
        if parts.is_empty() {
            return Err(Failure::Usage("nothing to send: give a text or --skill".to_owned()));
        }
        Ok(SendMessageRequest {
            message: Some(Message {
                // A repeat under the same key must be the same message.
                message_id: self.idempotency_key.clone().unwrap_or_else(|| weft_chassis::Env::system().id()),
                role: Role::User as i32,
                parts,
                task_id: self.task.clone().unwrap_or_default(),
                context_id: self.context.clone().unwrap_or_default(),
                ..Default::default()
            }),
            configuration: Some(SendMessageConfiguration {
                return_immediately: self.return_immediately,
                ..Default::default()
            }),
            ..Default::default()
        })
    }

    fn parsed_arguments(&self) -> Result<serde_json::Value, Failure> {
        let Some(text) = &self.arguments else { return Ok(serde_json::json!({})) };
        match serde_json::from_str(text) {
            Ok(value @ serde_json::Value::Object(_)) => Ok(value),
            _ => Err(Failure::Usage(format!(
                "--arguments {text}: must be a JSON object, like {{\"limit\": 5}}"
            ))),
        }
    }
}
