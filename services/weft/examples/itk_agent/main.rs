//! An agent for the integration test kit of A2A (`a2aproject/a2a-itk`): the mesh's own edge and task store in front, its
//! own client behind, on every binding and in both versions.
//!
//! ```sh
//! cargo build --release -p weft --example itk_agent
//! target/release/examples/itk_agent --httpPort 10102 --grpcPort 11002
//! ```
//!
//! A message carries an instruction: say something, call another agent, or several of these. It becomes a task like
//! any other; the executor-bridge hands it to a node that lives in this process and plays the instruction.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

mod instruction;
mod node;
mod play;

use std::collections::HashMap;
use std::net::Ipv4Addr;

use axum::extract::Request;
use axum::{Router, ServiceExt};
use clap::Parser;
use tower::Layer;
use tower::util::MapRequestLayer;
use weft_chassis::{Env, peer};
use weft_client::{Client, Options};

const MESH: &str = r#"
[mesh]
name = "Weft ITK agent"
description = "Plays the instructions of the integration test kit."
version = "1.0.0"
"#;

const NODE: &str = r#"
[node]
id = "itk"
name = "ITK"
role = "plays the instructions of the integration test kit"

[[tool]]
name = "itk.play"
description = "plays an instruction"
source = { kind = "scenario" }
timeout_ms = 60_000

[[capability]]
id = "itk.play"
name = "Instructions"
description = "Plays the instruction that a message carries."
tags = ["test"]
examples = ["an instruction"]
phrases = ["*"]
input_modes = ["*/*"]
output_modes = ["text/plain"]
tool = "itk.play"

# The node of this process answers instead; a manifest wants a source all the same.
[[scenario.rule]]
name = "anything"
when = { text_equals = "anything" }
[[scenario.rule.step]]
status = "completed"
"#;

#[derive(Parser)]
struct Args {
    #[arg(long = "httpPort")]
    http: u16,
    #[arg(long = "grpcPort")]
    grpc: u16,
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let args = Args::parse();
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let fleet = dir.path().join("fleet");
    std::fs::create_dir(&fleet).map_err(|e| e.to_string())?;
    for (file, text) in [("mesh.toml", MESH), ("itk.toml", NODE)] {
        std::fs::write(fleet.join(file), text).map_err(|e| e.to_string())?;
    }
    let env = Env::system();
    let text = |e: &dyn std::fmt::Display| e.to_string();

    let signer = weft_signer::Signer::open(&weft_signer::Settings::default(), dir.path(), &env)
        .map_err(|e| text(&e))?;
    let signer = peer::local(signer.routes());
    let catalog = weft_catalog::Settings { dir: fleet.display().to_string(), ..Default::default() };
    let (catalog, _kept) = weft_catalog::routes(&catalog, &env).map_err(|e| text(&e))?;
    let catalog = peer::local(catalog);
    let tasks = weft_tasks::Settings {
        push_allow: vec!["localhost".to_owned(), "127.0.0.0/8".to_owned(), "::1/128".to_owned()],
        ..Default::default()
    };
    let outside = weft_tasks::Outside::new(signer.clone());
    let (tasks, store) = weft_tasks::routes(&tasks, dir.path(), outside, &env).await.map_err(|e| text(&e))?;
    let tasks = peer::local(tasks);

    let client = Client::new(Options::default()).map_err(|e| text(&e))?;
    let node = peer::local(tonic::service::Routes::from(node::router(client)));
    let upstreams = weft_executor_bridge::Upstreams {
        tasks: tasks.clone(),
        catalog: catalog.clone(),
        signer: signer.clone(),
    };
    let nodes = HashMap::from([("itk".to_owned(), node)]);
    weft_executor_bridge::start(weft_executor_bridge::Settings::default(), upstreams, nodes, env.clone())?;

    let edge = weft_edge::Settings {
        http: "127.0.0.1:0".to_owned(),
        grpc: format!("127.0.0.1:{}", args.grpc),
        public_url: format!("http://127.0.0.1:{}", args.http),
        allowed_hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        extended_card: "open".to_owned(),
        sign_cards: false,
        ..Default::default()
    };
    let edge = weft_edge::bind(edge, &weft_edge::Upstreams { tasks, catalog, signer }, &env).await?;
    let front = edge.router();
    edge.serve();
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, args.http)).await;
    let listener = listener.map_err(|e| text(&e))?;
    println!("listening on {} and {}", args.http, args.grpc);
    let serving = axum::serve(listener, under_both_names(front).into_make_service());
    tokio::select! {
        served = serving => served.map_err(|e| text(&e))?,
        stopped = stopped() => stopped.map_err(|e| text(&e))?,
    }
    env.stop().cancel();
    env.drain(std::time::Duration::from_secs(2)).await;
    store.close().await;
    Ok(())
}

/// The kit posts to `/jsonrpc`, with and without a slash at the end; ours is `/a2a`.
fn under_both_names(
    front: Router,
) -> impl tower::Service<
    Request,
    Response = axum::response::Response,
    Error = std::convert::Infallible,
    Future: Send,
> + Clone
+ Send {
    let rename = |mut request: Request| {
        if matches!(request.uri().path(), "/jsonrpc" | "/jsonrpc/") {
            *request.uri_mut() = axum::http::Uri::from_static("/a2a");
        }
        request
    };
    MapRequestLayer::new(rename).layer(front)
}

async fn stopped() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
