//! One owner's part of a store that no mesh has open: shown, or removed.

use std::path::Path;

use weft_core::Owner;
use weft_proto::weft::ExportedTask;

use super::{existing, guarded, open_shared, write};
use crate::record::space;
use crate::store::OpenError;
use crate::store::ask::Ask;
use crate::{Settings, TaskId};

/// Tasks read and removed at once.
const TASKS_AT_ONCE: usize = 64;

/// What was removed of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forgotten {
    /// Tasks, in every tenant.
    pub tasks: u64,
    /// Conversations with peers.
    pub conversations: u64,
}

/// Hands out every task of an owner in every tenant, oldest first. The store must not be in use.
///
/// # Errors
/// When there is no store, it is in use or damaged, or `visit` fails.
pub fn export(
    data_dir: &Path,
    owner: &Owner,
    visit: &mut dyn FnMut(ExportedTask) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let (disk, _) = existing(data_dir)?;
    guarded(data_dir, || {
        let shared = open_shared(disk, &Settings::default())?;
        let mut after: Option<TaskId> = None;
        loop {
            let heads = shared.of_base(owner.as_str(), after, TASKS_AT_ONCE)?;
            let Some(last) = heads.last() else { return Ok(()) };
            after = Some(last.id());
            for head in heads {
                if let Some(stored) = shared.load(head.id())? {
                    let tenant = space(&head.owner).0.to_owned();
                    visit(ExportedTask { tenant, task: Some(stored.task) })?;
                }
            }
        }
    })
}

/// Removes everything of an owner in every tenant. The store must not be in use. When it is cut short, the next start of
/// the mesh, or this again, finishes it.
///
/// # Errors
/// When there is no store, it is in use or damaged.
pub fn forget(data_dir: &Path, owner: &Owner) -> Result<Forgotten, OpenError> {
    let (disk, _) = existing(data_dir)?;
    guarded(data_dir, || {
        let (shared, base) = (open_shared(disk, &Settings::default())?, owner.as_str());
        let mut forgotten = Forgotten::default();
        write(&shared, vec![Ask::forget(base)])?;
        loop {
            let heads = shared.of_base(base, None, TASKS_AT_ONCE)?;
            if heads.is_empty() {
                break;
            }
            forgotten.tasks += heads.len() as u64;
            let mut asks = Vec::with_capacity(heads.len());
            for head in heads {
                asks.push(Ask::removal(&head, shared.keys_of(head.id(), &head.owner)?));
            }
            write(&shared, asks)?;
        }
        let (keys, conversations) = shared.left_of(base)?;
        forgotten.conversations = conversations;
        write(&shared, vec![Ask::forgotten(base, keys)])?;
        Ok(forgotten)
    })
}
