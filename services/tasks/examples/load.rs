//! Blocking messages through the task store alone: clients that submit and wait, one worker that answers at once.
//!
//! `cargo run --release -p weft-tasks --example load -- [clients] [seconds] [gets]` prints messages a second and latencies.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use weft_chassis::{Env, Peer, peer};
use weft_proto::a2a::{Artifact, Message, Part, Role, SendMessageRequest, TaskState, TaskStatus, part};
use weft_proto::weft::claim_event::Event;
use weft_proto::weft::progress::Step;
use weft_proto::weft::tasks_client::TasksClient;
use weft_proto::weft::{
    AppendRequest, ArtifactChunk, ClaimRequest, Follow, GetRequest, Progress, Route, SubmitRequest,
    submit_request,
};
use weft_tasks::{Outside, Settings};

fn text(text: &str) -> Part {
    Part { content: Some(part::Content::Text(text.into())), ..Part::default() }
}

fn request(id: String) -> SubmitRequest {
    let parts = vec![text("how did the semiconductor sector move over the last five trading days?")];
    let message = Message { message_id: id, role: Role::User.into(), parts, ..Message::default() };
    let route = Route { capability: "sector.movement".into(), ..Route::default() };
    SubmitRequest {
        owner: "local".into(),
        request: Some(SendMessageRequest { message: Some(message), ..SendMessageRequest::default() }),
        start: Some(submit_request::Start::Route(route)),
        follow: Follow::Result.into(),
        ..SubmitRequest::default()
    }
}

fn answer() -> Vec<Progress> {
    let artifact = Artifact {
        artifact_id: "answer".into(),
        parts: vec![text(&"up 1.2 % ".repeat(30))],
        ..Artifact::default()
    };
    let chunk = ArtifactChunk { artifact: Some(artifact), append: false, last_chunk: true };
    let status = TaskStatus { state: TaskState::Completed.into(), ..TaskStatus::default() };
    let step = |step| Progress { step: Some(step), metadata: None };
    vec![step(Step::Artifact(chunk)), step(Step::Status(status))]
}

async fn work(mut client: TasksClient<Peer>) {
    let (credits, requests) = mpsc::channel(64);
    credits.send(ClaimRequest { worker: "w".into(), credit: 512 }).await.unwrap();
    let mut claims = client.claim(ReceiverStream::new(requests)).await.unwrap().into_inner();
    let (appends, requests) = mpsc::channel(64);
    let mut answers = client.append(ReceiverStream::new(requests)).await.unwrap().into_inner();
    tokio::spawn(async move {
        while let Some(Ok(answer)) = answers.next().await {
            assert!(answer.accepted, "{answer:?}");
            if credits.send(ClaimRequest { worker: "w".into(), credit: 1 }).await.is_err() {
                return;
            }
        }
    });
    let mut number = 0;
    while let Some(Ok(event)) = claims.next().await {
        let Some(Event::Item(item)) = event.event else { continue };
        number += 1;
        let append = AppendRequest {
            number,
            task_id: item.task_id,
            lease: item.lease,
            progress: answer(),
            ..AppendRequest::default()
        };
        if appends.send(append).await.is_err() {
            return;
        }
    }
}

/// User and system time of this process, as the kernel counts it (100 ticks a second).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |at| after_name.split_whitespace().nth(at).and_then(|ticks: &str| ticks.parse::<f64>().ok());
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>().unwrap());
    let (clients, seconds) = (args.next().unwrap_or(64), args.next().unwrap_or(10));
    let count = args.next().unwrap_or(20_000);
    let dir = tempfile::tempdir_in(".").unwrap();
    let env = Env::system();
    // No webhook is set, so nobody is asked to wrap anything.
    let outside = Outside::new(peer::remote("http://127.0.0.1:1").unwrap());
    let (routes, handle) = weft_tasks::routes(&Settings::default(), dir.path(), outside, &env).await.unwrap();
    let client = TasksClient::new(peer::local(routes));
    tokio::spawn(work(client.clone()));

    let (done, until) = (Arc::new(AtomicU64::new(0)), Instant::now() + Duration::from_secs(seconds));
    let began = Instant::now();
    let runs: Vec<_> = (0..clients)
        .map(|n| {
            let (mut client, done) = (client.clone(), done.clone());
            tokio::spawn(async move {
                let mut took = Vec::new();
                let mut last = String::new();
                while Instant::now() < until {
                    let id = done.fetch_add(1, Ordering::Relaxed);
                    let start = Instant::now();
                    let mut events = client.submit(request(format!("m{n}-{id}"))).await.unwrap().into_inner();
                    let event = events.message().await.unwrap().unwrap();
                    took.push(start.elapsed());
                    if let Some(weft_proto::a2a::stream_response::Payload::Task(task)) =
                        event.body.unwrap().payload
                    {
                        last = task.id;
                    }
                }
                (took, last)
            })
        })
        .collect();
    let (mut took, mut last) = (Vec::new(), String::new());
    for run in runs {
        let (more, id) = run.await.unwrap();
        took.extend(more);
        last = id;
    }
    let rate = took.len() as f64 / began.elapsed().as_secs_f64();
    took.sort();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    let cpu = cpu_seconds() * 1e6 / took.len() as f64;
    println!("cpu: {cpu:.0} us a message, clients and worker included");
    println!("submit: {clients} clients, {rate:.0}/s, p50 {:?}, p99 {:?}", at(50), at(99));

    let (began, mut gets) = (Instant::now(), client.clone());
    for _ in 0..count {
        let request = GetRequest { owner: "local".into(), task_id: last.clone(), history_length: None };
        gets.get(request).await.unwrap();
    }
    println!("get: 1 client, {:.0}/s", count as f64 / began.elapsed().as_secs_f64());
    for line in env
        .metrics()
        .render()
        .lines()
        .filter(|line| line.contains("_sum") || line.contains("_count") || line.contains("commits"))
    {
        println!("{line}");
    }
    println!("bytes on disk: {}", std::fs::metadata(dir.path().join("tasks/db")).unwrap().len());
    handle.close().await;
}
