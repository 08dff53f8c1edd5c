//! Reading what is kept by owner.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use super::Shared;
use crate::TaskId;
use crate::record::{Conversation, Head, Session};
use crate::store::Broken;
use crate::store::kv::Kv;
use crate::store::layout::{self, owner};

/// The capabilities whose runs have left sessions.
pub(super) fn capabilities<K: Kv>(kv: &K) -> Result<HashSet<String>, Broken> {
    let (mut capabilities, (from, to)) = (HashSet::new(), owner::all(owner::SESSIONS));
    kv.scan(&from, &to, &mut |_, bytes| {
        let session: Session = layout::decode(bytes, "a session")?;
        if !capabilities.contains(&session.capability) {
            capabilities.insert(session.capability);
        }
        Ok(true)
    })?;
    Ok(capabilities)
}

/// The owners whose removal was begun and not finished.
pub(super) fn forgetting<K: Kv>(kv: &K) -> Result<HashSet<String>, Broken> {
    let (mut bases, (from, to)) = (HashSet::new(), owner::all(owner::FORGETTING));
    kv.scan(&from, &to, &mut |key, _| {
        bases.insert(owner::read_base(key)?);
        Ok(true)
    })?;
    Ok(bases)
}

impl<K: Kv> Shared<K> {
    /// False for a capability whose runs never left a session.
    pub(super) fn leaves_sessions(&self, capability: &str) -> bool {
        self.capabilities.read().unwrap_or_else(PoisonError::into_inner).contains(capability)
    }

    pub(super) fn session(&self, key: &[u8]) -> Result<Option<String>, Broken> {
        let Some(bytes) = self.kv.get(key)? else { return Ok(None) };
        let session: Session = layout::decode(bytes.as_slice(), "a session")?;
        Ok(Some(session.text))
    }

    pub(super) fn conversation(&self, key: &[u8]) -> Result<Option<Conversation>, Broken> {
        self.kv.get(key)?.map(|bytes| layout::decode(bytes.as_slice(), "a conversation")).transpose()
    }

    pub(super) fn conversations(&self, prefix: Vec<u8>) -> Result<Vec<Conversation>, Broken> {
        let (mut found, (from, to)) = (Vec::new(), owner::range(prefix));
        self.kv.scan(&from, &to, &mut |_, bytes| {
            found.push(layout::decode(bytes, "a conversation")?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// See [`crate::store::Store::of_base`].
    pub(in crate::store) fn of_base(
        &self,
        base: &str,
        after: Option<TaskId>,
        most: usize,
    ) -> Result<Vec<Arc<Head>>, Broken> {
        let (all, to) = owner::range(owner::of_base(owner::OWNED, base));
        let from = after.map_or(all, |task| [owner::owned(base, task), vec![0]].concat());
        let mut tasks = Vec::new();
        self.kv.scan(&from, &to, &mut |key, _| {
            tasks.push(owner::task_of(key)?);
            Ok(tasks.len() < most)
        })?;
        // One that was removed meanwhile has none.
        tasks.into_iter().filter_map(|task| self.head(task).transpose()).collect()
    }

    /// The keys of what a base has besides tasks, and how many conversations are among them.
    pub(in crate::store) fn left_of(&self, base: &str) -> Result<(Vec<Vec<u8>>, u64), Broken> {
        let (mut keys, mut conversations) = (Vec::new(), 0);
        for kind in [owner::CONVERSATIONS, owner::SESSIONS] {
            let (from, to) = owner::range(owner::of_base(kind, base));
            self.kv.scan(&from, &to, &mut |key, _| {
                conversations += u64::from(kind == owner::CONVERSATIONS);
                keys.push(key.to_vec());
                Ok(true)
            })?;
        }
        Ok((keys, conversations))
    }
}
