//! `weft owner …`: all that is kept of one owner, shown or removed.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use tonic::Status;
use weft_chassis::settings::Layers;
use weft_chassis::{peer, status};
use weft_core::{Kind, Owner};
use weft_proto::a2a::Task;
use weft_proto::weft::owners_client::OwnersClient;
use weft_proto::weft::{ExportedTask, OwnerRequest};
use weft_tasks::store;

use super::Failure;
use super::out::Out;
use super::up::read;

/// Commands over everything of one owner, in every agent's space.
///
/// They open the store in --data, whose mesh must be stopped. With --live they ask a task store that runs, at
/// peers.tasks: one that `weft run tasks` started has a port, one inside `weft up` has none.
#[derive(Debug, Subcommand)]
pub(super) enum OwnerCommand {
    /// Print every task of the owner, oldest first: one JSON object a line, with the agent's id as `tenant` and the
    /// whole `task`
    Export(Whose),
    /// Cancel what is under way and remove everything: tasks, events, webhooks, replay keys, sessions, conversations
    ///
    /// Cut short, it is finished when the store is opened again.
    Forget {
        #[command(flatten)]
        whose: Whose,
        /// Do it; nothing brings it back
        #[arg(long, required = true)]
        yes: bool,
    },
}

/// Which owner, and where it is kept.
#[derive(Debug, Args)]
pub(super) struct Whose {
    /// The owner: `local`, or a caller such as `p:NAME` (access file), `oidc:PROVIDER:SUBJECT` or `anon:…`
    #[arg(value_parser = owner)]
    owner: Owner,
    /// Ask the task store that runs at peers.tasks, instead of opening the one in --data
    #[arg(long)]
    live: bool,
}

/// One line of an export.
#[derive(Serialize)]
struct Line<'a> {
    tenant: &'a str,
    task: &'a Task,
}

/// `weft owner …`.
pub(super) async fn owner_command(layers: &Layers, command: OwnerCommand) -> Result<(), Failure> {
    let settings = read(layers)?;
    let data = PathBuf::from(settings.mesh.data);
    match command {
        OwnerCommand::Export(Whose { owner, live: true }) => export_live(&settings.peers.tasks, owner).await,
        OwnerCommand::Export(Whose { owner, live: false }) => closed(move || export(&data, &owner)).await,
        OwnerCommand::Forget { whose: Whose { owner, live: true }, .. } => {
            let mut owners = client(&settings.peers.tasks)?;
            let gone =
                owners.forget(request(&owner)).await.map_err(|s| refused(&settings.peers.tasks, &s))?;
            let gone = gone.into_inner();
            told(&owner, gone.tasks, gone.conversations);
            Ok(())
        }
        OwnerCommand::Forget { whose: Whose { owner, live: false }, .. } => {
            closed(move || {
                let gone = store::forget(&data, &owner)?;
                told(&owner, gone.tasks, gone.conversations);
                Ok(())
            })
            .await
        }
    }
}

/// An owner as such: what it has in the spaces of agents comes along.
fn owner(text: &str) -> Result<Owner, String> {
    if text.contains('/') {
        return Err("name the owner without an agent: what follows the slash".to_owned());
    }
    Owner::parse(text).map_err(|fault| fault.message)
}

fn told(owner: &Owner, tasks: u64, conversations: u64) {
    let text = format!("{owner}: {tasks} tasks and {conversations} conversations removed");
    Out::new(false).line(&text);
}

/// Works on the store that no mesh has open.
async fn closed(work: impl FnOnce() -> Result<(), store::OpenError> + Send + 'static) -> Result<(), Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|e| Failure::Mesh(format!("the store could not be read: {e}")))?;
    done.map_err(|e| Failure::Mesh(e.to_string()))
}

fn export(data: &Path, owner: &Owner) -> Result<(), store::OpenError> {
    let out = Out::new(true);
    store::export(data, owner, &mut |exported| {
        line(&out, &exported);
        Ok(())
    })
}

async fn export_live(at: &str, owner: Owner) -> Result<(), Failure> {
    let (out, failed) = (Out::new(true), |status: Status| refused(at, &status));
    let mut tasks = client(at)?.export(request(&owner)).await.map_err(failed)?.into_inner();
    while let Some(exported) = tasks.message().await.map_err(failed)? {
        line(&out, &exported);
    }
    Ok(())
}

fn line(out: &Out, exported: &ExportedTask) {
    if let Some(task) = &exported.task {
        out.message(&Line { tenant: &exported.tenant, task });
    }
}

fn client(at: &str) -> Result<OwnersClient<peer::Peer>, Failure> {
    let peer = peer::remote(at).map_err(Failure::Usage)?;
    Ok(OwnersClient::new(peer).max_decoding_message_size(peer::MESSAGE_BYTES_MAX))
}

fn request(owner: &Owner) -> OwnerRequest {
    OwnerRequest { owner: owner.as_str().to_owned() }
}

fn refused(at: &str, failed: &Status) -> Failure {
    let fault = status::fault(failed);
    if fault.kind == Kind::Unavailable {
        let text = format!(
            "the task store at {at} (peers.tasks) cannot be asked: {}; does `weft run tasks` listen there?",
            fault.message
        );
        return Failure::Unreachable(text);
    }
    Failure::Refused(fault.message)
}
