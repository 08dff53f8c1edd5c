//! What is kept by owner, compared with the heads of the tasks.

use std::collections::{HashMap, HashSet};

use crate::record::{Head, Session};
use crate::store::dump::OpenError;
use crate::store::kv::Kv;
use crate::store::layout::{self, owner};
use crate::store::{Broken, Used};

/// What must be there.
#[derive(Default)]
pub(super) struct ByBase {
    used: HashMap<Vec<u8>, Used>,
    /// Turns of a context are no fewer than those of its tasks: some may be gone.
    contexts: HashMap<Vec<u8>, Used>,
    listed: HashSet<Vec<u8>>,
}

impl ByBase {
    pub(super) fn take(&mut self, head: &Head) {
        let base = owner::base_of(head);
        let used = self.used.entry(owner::of_base(owner::USED, base)).or_default();
        (used.tasks, used.bytes) = (used.tasks + 1, used.bytes + head.bytes);
        let used = self.contexts.entry(owner::context(&head.owner, &head.context)).or_default();
        (used.tasks, used.bytes) = (used.tasks + 1, used.bytes + u64::from(head.turn));
        self.listed.insert(owner::owned(base, head.id()));
        self.listed.extend(owner::ended(head));
    }

    pub(super) fn check<K: Kv>(self, kv: &K, problem: &mut dyn FnMut(String)) -> Result<(), OpenError> {
        let ByBase { used, contexts, listed } = self;
        compare(kv, owner::USED, &used, &|found, expected| found == expected, problem)?;
        let fits =
            |found: Used, expected: Used| found.tasks == expected.tasks && found.bytes >= expected.bytes;
        compare(kv, owner::CONTEXTS, &contexts, &fits, problem)?;
        let mut entries = 0;
        for kind in [owner::OWNED, owner::ENDED, owner::OVER] {
            let (from, to) = owner::all(kind);
            kv.scan(&from, &to, &mut |key, _| {
                entries += 1;
                if !listed.contains(key) {
                    problem(format!("a list by owner ({}) has an entry for no task", char::from(kind)));
                }
                Ok(true)
            })?;
        }
        if entries != listed.len() {
            problem(format!("the lists by owner have {entries} entries, not {}", listed.len()));
        }
        let (from, to) = owner::all(owner::SESSIONS);
        kv.scan(&from, &to, &mut |_, bytes| {
            let session: Session = layout::decode(bytes, "a session")?;
            if !contexts.contains_key(&owner::context(&session.owner, &session.context)) {
                problem(format!("a session of owner {} is of a context without tasks", session.owner));
            }
            Ok(true)
        })?;
        Ok(())
    }
}

fn compare<K: Kv>(
    kv: &K,
    kind: u8,
    expected: &HashMap<Vec<u8>, Used>,
    fits: &dyn Fn(Used, Used) -> bool,
    problem: &mut dyn FnMut(String),
) -> Result<(), Broken> {
    let (mut known, (from, to)) = (0, owner::all(kind));
    kv.scan(&from, &to, &mut |key, bytes| {
        known += 1;
        let found = owner::read_used(Some(bytes))?;
        if !expected.get(key).is_some_and(|expected| fits(found, *expected)) {
            let name = String::from_utf8_lossy(key.get(3..).unwrap_or_default()).into_owned();
            problem(format!("a counter ({}) of owner {name} is wrong", char::from(kind)));
        }
        Ok(true)
    })?;
    if known != expected.len() {
        problem(format!("{known} counters ({}) are kept, not {}", char::from(kind), expected.len()));
    }
    Ok(())
}
