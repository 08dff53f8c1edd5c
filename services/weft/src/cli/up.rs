//! `weft up` and `weft run`: start, say where, stop on a signal.

use std::process;

use tokio::signal::unix::{SignalKind, signal};
use weft_chassis::settings::Layers;
use weft_chassis::{Env, Peer, telemetry};

use super::Failure;
use super::out::Out;
use crate::mesh::{Mesh, Plan};
use crate::roles::Role;
use crate::settings::Settings;

/// The whole mesh in this process.
pub(super) async fn up(layers: &Layers) -> Result<(), Failure> {
    let settings = read(layers)?;
    let shown = settings.clone();
    let env = Env::system();
    let mut plan = Plan::all_in_one(settings);
    let journal = plan.journal(&env).map_err(Failure::Usage)?;
    let telemetry = init(&shown, "weft", Some(journal), &env)?;
    let mesh = Mesh::start(plan, env).await.map_err(Failure::Mesh)?;
    let out = Out::new(false);
    if let Some(address) = mesh.address(Role::Edge) {
        let base =
            format!("{}://{address}{}", shown.edge.scheme(), shown.edge.base_path.trim_end_matches('/'));
        let grpc = mesh.grpc_address().unwrap_or(address);
        out.line(&format!("weft is up (pid {})", process::id()));
        out.line(&format!("  console     {base}/"));
        out.line(&format!("  A2A         {base}/a2a  (JSON-RPC)"));
        out.line(&format!("              {base}/rest  (HTTP+JSON)"));
        out.line(&format!("              {grpc}  (gRPC)"));
        out.line(&format!("  agent card  {base}/.well-known/agent-card.json"));
        out.line(&format!("  metrics     {base}/metrics"));
        out.line(&format!("  data        {}", shown.mesh.data));
        out.line(&format!("try: weft send \"which sectors moved most?\" --url {base}"));
    }
    until_stopped(mesh, telemetry).await
}

/// Some roles in this process.
pub(super) async fn run(layers: &Layers, roles: &[Role]) -> Result<(), Failure> {
    let settings = read(layers)?;
    let names: Vec<_> = roles.iter().map(|role| role.name()).collect();
    let env = Env::system();
    let mut plan = Plan::apart(roles, settings.clone());
    let journal = plan.journal(&env).map_err(Failure::Usage)?;
    let telemetry = init(&settings, &names.join("+"), Some(journal), &env)?;
    let mesh = Mesh::start(plan, env).await.map_err(Failure::Mesh)?;
    let out = Out::new(false);
    for role in roles {
        if let Some(address) = mesh.address(*role) {
            out.line(&format!("{role} is up at {address} (pid {})", process::id()));
        }
    }
    until_stopped(mesh, telemetry).await
}

/// The merged settings, typed.
pub(super) fn read(layers: &Layers) -> Result<Settings, Failure> {
    Settings::read(layers).map_err(|e| Failure::Usage(e.to_string()))
}

/// Logs, traces: once a process.
pub(super) fn init(
    settings: &Settings,
    service: &str,
    journal: Option<Peer>,
    env: &Env,
) -> Result<telemetry::Guard, Failure> {
    telemetry::init(&settings.telemetry, service, journal, env.metrics()).map_err(Failure::Usage)
}

/// Resolves on Ctrl-C or SIGTERM.
pub(super) async fn stop_signal() -> Result<(), Failure> {
    let listen = |kind| signal(kind).map_err(|e| Failure::Mesh(format!("cannot listen for signals: {e}")));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

async fn until_stopped(mesh: Mesh, telemetry: telemetry::Guard) -> Result<(), Failure> {
    let broken = mesh.broken().clone();
    tokio::select! {
        stopped = stop_signal() => stopped?,
        () = broken.cancelled() => {}
    }
    let broke = broken.is_cancelled();
    let out = Out::new(false);
    out.note("weft: stopping; again to stop at once");
    tokio::select! {
        _ = mesh.stop() => {}
        _ = stop_signal() => {}
    }
    telemetry.shutdown().await;
    if broke { Err(Failure::Mesh("a part of the mesh broke; the log says which".to_owned())) } else { Ok(()) }
}
