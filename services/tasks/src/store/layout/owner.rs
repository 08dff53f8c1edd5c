//! Keys of what is kept by owner. A base is an owner without its tenant: all that one caller has in every agent's space.

use weft_core::task::is_terminal;

use super::{after, damaged, push_text, scoped};
use crate::TaskId;
use crate::record::{Head, space};
use crate::store::{Broken, Used};

pub(in crate::store) const USED: u8 = b'u';
pub(in crate::store) const OWNED: u8 = b'w';
pub(in crate::store) const ENDED: u8 = b'e';
pub(in crate::store) const OVER: u8 = b'g';
pub(in crate::store) const CONTEXTS: u8 = b'k';
pub(in crate::store) const SESSIONS: u8 = b'y';
pub(in crate::store) const CONVERSATIONS: u8 = b'v';
pub(in crate::store) const FORGETTING: u8 = b'z';

/// The time that ended tasks of owners without credentials are kept, in place of hours.
pub(in crate::store) const ANONYMOUS: u32 = u32::MAX;

/// All keys of a kind and a base.
pub(in crate::store) fn of_base(kind: u8, base: &str) -> Vec<u8> {
    scoped(kind, base)
}

/// The base of a key of [`of_base`] that holds nothing more.
pub(in crate::store) fn read_base(key: &[u8]) -> Result<String, Broken> {
    let name = key.get(3..).and_then(|name| std::str::from_utf8(name).ok());
    name.map(str::to_owned).ok_or_else(|| damaged("the key of an owner"))
}

/// All keys of a kind and an owner in its tenant.
pub(in crate::store) fn of_owner(kind: u8, owner: &str) -> Vec<u8> {
    let (tenant, base) = space(owner);
    let mut key = scoped(kind, base);
    push_text(&mut key, tenant);
    key
}

pub(in crate::store) fn owned(base: &str, task: TaskId) -> Vec<u8> {
    [scoped(OWNED, base).as_slice(), task.bytes().as_slice()].concat()
}

/// The task that such a key ends with.
pub(in crate::store) fn task_of(key: &[u8]) -> Result<TaskId, Broken> {
    key.last_chunk().copied().map(TaskId::new).ok_or_else(|| damaged("the key of an owner's task"))
}

/// Where an ended task lies among those of its base and among all, oldest first; nothing for one that has not ended.
pub(in crate::store) fn ended(head: &Head) -> impl Iterator<Item = Vec<u8>> + use<> {
    let at = time(head.status_ms);
    let tail = [at.as_slice(), head.id().bytes().as_slice()].concat();
    let keys = [[scoped(ENDED, base_of(head)), tail.clone()].concat(), [over(keep(head)), tail].concat()];
    keys.into_iter().filter({
        let ended = is_terminal(head.state());
        move |_| ended
    })
}

/// All ended tasks that are kept for the same time.
pub(in crate::store) fn over(keep: u32) -> Vec<u8> {
    [&[OVER], keep.to_be_bytes().as_slice()].concat()
}

/// Before this key lie the ended tasks of [`over`] that ended before a time.
pub(in crate::store) fn over_before(keep: u32, unix_ms: i64) -> Vec<u8> {
    [over(keep).as_slice(), time(unix_ms).as_slice()].concat()
}

/// For how long the tasks of such a key are kept.
pub(in crate::store) fn keep_of(key: &[u8]) -> Result<u32, Broken> {
    let keep = key.get(1..5).and_then(|keep| keep.try_into().ok());
    keep.map(u32::from_be_bytes).ok_or_else(|| damaged("the list of ended tasks"))
}

/// 0: as the settings say; [`ANONYMOUS`]: as they say of owners without credentials.
fn keep(head: &Head) -> u32 {
    match head.keep_hours {
        0 if crate::record::is_anonymous(&head.owner) => ANONYMOUS,
        hours => hours,
    }
}

/// Earlier times are lesser keys. The sign bit is flipped, so that times before 1970 sort too.
fn time(unix_ms: i64) -> [u8; 8] {
    (unix_ms.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

pub(in crate::store) fn context(owner: &str, context: &str) -> Vec<u8> {
    let mut key = of_owner(CONTEXTS, owner);
    push_text(&mut key, context);
    key
}

/// All sessions of the context that a key of [`context`] is about.
pub(in crate::store) fn sessions_of(context: &[u8]) -> Vec<u8> {
    [&[SESSIONS], context.get(1..).unwrap_or_default()].concat()
}

pub(in crate::store) fn session(owner: &str, context: &str, capability: &str) -> Vec<u8> {
    let mut key = of_owner(SESSIONS, owner);
    push_text(&mut key, context);
    key.extend_from_slice(capability.as_bytes());
    key
}

pub(in crate::store) fn conversation(owner: &str, peer: &str) -> Vec<u8> {
    [of_owner(CONVERSATIONS, owner).as_slice(), peer.as_bytes()].concat()
}

/// The whole range of a kind.
pub(in crate::store) fn all(kind: u8) -> ([u8; 1], [u8; 1]) {
    ([kind], [kind + 1])
}

pub(in crate::store) fn base_of(head: &Head) -> &str {
    space(&head.owner).1
}

/// Two counters: tasks and bytes of a base, or tasks and turns of a context.
pub(in crate::store) fn write_used(used: Used) -> Vec<u8> {
    [used.tasks.to_be_bytes(), used.bytes.to_be_bytes()].concat()
}

pub(in crate::store) fn read_used(bytes: Option<&[u8]>) -> Result<Used, Broken> {
    let Some(bytes) = bytes else { return Ok(Used::default()) };
    let ([tasks, more], []) = bytes.as_chunks() else { return Err(damaged("a counter of an owner")) };
    Ok(Used { tasks: u64::from_be_bytes(*tasks), bytes: u64::from_be_bytes(*more) })
}

/// `from..to` of everything that begins with `prefix`.
pub(in crate::store) fn range(prefix: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let to = after(&prefix);
    (prefix, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_proto::a2a::TaskState;

    fn ended_at(owner: &str, n: u8, ms: i64) -> Vec<Vec<u8>> {
        let mut head = Head::new(TaskId::new([n; 16]), owner, "c");
        (head.state, head.status_ms) = (TaskState::Completed.into(), ms);
        ended(&head).collect()
    }

    #[test]
    fn an_owner_has_its_ended_tasks_of_every_tenant_in_one_row_oldest_first() {
        let keys: Vec<_> = [("crm/p:ci", 9, -5), ("p:ci", 8, 0), ("p:ci", 1, 7), ("erp/p:ci", 2, 7)]
            .into_iter()
            .map(|(owner, n, ms)| ended_at(owner, n, ms)[0].clone())
            .collect();
        assert!(keys.is_sorted());
        let (from, to) = range(of_base(ENDED, "p:ci"));
        assert!(keys.iter().all(|key| *key >= from && *key < to));
        let foreign = ended_at("p:c", 1, 0)[0].clone();
        assert!(foreign < from || foreign >= to);
    }

    #[test]
    fn those_without_credentials_are_kept_for_a_time_of_their_own() {
        let keeps: Vec<_> = ["p:ci", "anon:x", "crm/anon:x"]
            .map(|owner| keep_of(&ended_at(owner, 1, 5)[1]).unwrap())
            .into_iter()
            .collect();
        assert_eq!(keeps, [0, ANONYMOUS, ANONYMOUS]);
    }

    #[test]
    fn a_context_whose_name_begins_like_anothers_has_sessions_of_its_own() {
        let (from, to) = range(sessions_of(&context("p:ci", "a")));
        assert!((from.clone()..to.clone()).contains(&session("p:ci", "a", "x")));
        assert!(!(from..to).contains(&session("p:ci", "ab", "x")));
    }
}
