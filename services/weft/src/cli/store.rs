//! `weft store …`: looking after a task store that no mesh has open.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use weft_chassis::settings::Layers;
use weft_tasks::store;

use super::Failure;
use super::out::Out;
use super::up::read;

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

/// `weft store …`. A store with a problem is a failure.
pub(super) async fn store(layers: &Layers, command: StoreCommand) -> Result<(), Failure> {
    let data = PathBuf::from(read(layers)?.mesh.data);
    let worked = tokio::task::spawn_blocking(move || work(&data, &command)).await;
    let done = worked.map_err(|e| Failure::Mesh(format!("the store could not be read: {e}")))?;
    Out::new(false).line(&done?);
    Ok(())
}

/// Where the result lies, and what it holds.
fn work(data: &Path, command: &StoreCommand) -> Result<String, Failure> {
    let place = store::place(data);
    let (place, report) = match command {
        StoreCommand::Check => (place.as_path(), store::check(data)),
        StoreCommand::Backup { file } => (file.as_path(), store::backup(data, file)),
        StoreCommand::Restore { file } => (place.as_path(), store::restore(file, data)),
    };
    let report = report.map_err(|e| Failure::Mesh(e.to_string()))?;
    let said = format!("{}: {report}", place.display());
    if report.problems.is_empty() { Ok(said) } else { Err(Failure::Mesh(said)) }
}
