//! `weft store …`: looking after a task store that no mesh has open.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use weft_chassis::settings::Layers;
use weft_tasks::store;

use super::out::Out;
use super::up::read;
use super::Failure;

/// Commands over a store; the mesh that owns it must be stopped.
#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Read every record and say whether the store is whole
    Check,
    /// Write a portable copy
    Backup {
        /// File to write; must not exist
        file: PathBuf,
    },
    /// Make a store from a copy; the present one must be absent or empty
    Restore {
        /// File that `backup` wrote
        file: PathBuf,
    },
}

/// `weft store …`.
pub(super) async fn store(layers: &Layers, command: StoreCommand) -> Result<(), Failure> {
    let dir = Path::new(&read(layers)?.mesh.data).join("tasks");
    let worked = tokio::task::spawn_blocking(move || work(&dir, &command)).await;
    let report = worked.map_err(|e| Failure::Mesh(format!("the store could not be read: {e}")))?;
    Out::new(false).line(&report.map_err(Failure::Mesh)?);
    Ok(())
}

fn work(dir: &Path, command: &StoreCommand) -> Result<String, String> {
    let place = dir.display();
    match command {
        StoreCommand::Check => store::check(dir).map(|report| format!("{place}: {report}")).map_err(|e| e.to_string()),
        StoreCommand::Backup { file } => store::backup(dir, file)
            .map(|report| format!("{}: {report}", file.display()))
            .map_err(|e| e.to_string()),
        StoreCommand::Restore { file } => {
            store::restore(file, dir).map(|report| format!("{place}: {report}")).map_err(|e| e.to_string())
        }
    }
}
