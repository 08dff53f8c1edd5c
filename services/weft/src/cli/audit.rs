//! `weft audit …`: the record of security events in the data folder, beside a mesh that runs or not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use weft_chassis::Env;
use weft_chassis::settings::Layers;
use weft_proto::weft::AuditEvent;
use weft_proto::weft::audit_event::Outcome;
use weft_signer::Settings;
use weft_signer::audit::{self, Cursor};

use super::Failure;
use super::out::Out;
use super::up::read;

/// Events read at once.
const PAGE: usize = 1_024;
/// How often a follower looks for more.
const LOOK: Duration = Duration::from_millis(500);

/// Commands over the record.
#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Print the events, oldest first, each as JSON on a line
    Export(ExportArgs),
    /// Say whether anything was changed, taken out or put in
    Check,
}

/// Arguments of `weft audit export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Events after this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    after: u64,
    /// Only those of this owner, for example p:ci
    #[arg(long)]
    owner: Option<String>,
    /// Go on with new events until interrupted
    #[arg(long)]
    follow: bool,
}

/// `weft audit …`.
pub(super) async fn audit(layers: &Layers, command: AuditCommand) -> Result<(), Failure> {
    let data = PathBuf::from(read(layers)?.mesh.data);
    match command {
        AuditCommand::Export(args) => export(&data, args).await,
        AuditCommand::Check => {
            let checked = audit::check(&data).map_err(Failure::Mesh)?;
            if checked.problems.is_empty() {
                Out::new(false).line(&checked.to_string());
                Ok(())
            } else {
                Err(Failure::Mesh(checked.to_string()))
            }
        }
    }
}

async fn export(data: &Path, args: ExportArgs) -> Result<(), Failure> {
    let out = Out::new(true);
    let mut cursor = Cursor::new(data, args.after);
    loop {
        let page = cursor.page(PAGE).map_err(|fault| Failure::Mesh(fault.to_string()))?;
        let wanted = |event: &&AuditEvent| args.owner.as_ref().is_none_or(|owner| event.owner == *owner);
        page.iter().filter(wanted).for_each(|event| out.message(event));
        if !page.is_empty() {
            continue;
        }
        if !args.follow {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The event of a command that did what it was told.
pub(super) fn of_command(action: &str, target: &str) -> AuditEvent {
    AuditEvent {
        action: action.to_owned(),
        target: target.to_owned(),
        outcome: Outcome::Ok.into(),
        ..AuditEvent::default()
    }
}

/// Writes an event of a command down.
///
/// # Errors
/// What it is about is done all the same, and the text says so.
pub(super) fn noted(data: &Path, settings: &Settings, event: AuditEvent, env: &Env) -> Result<(), Failure> {
    audit::note(data, settings, event, env)
        .map_err(|problem| Failure::Mesh(format!("it is done, but not in the security record: {problem}")))
}
