//! The keys. One ordered map holds everything; the first byte says what a key is.
//!
//! | key | value |
//! |---|---|
//! | `m` name | format version, secret, epoch |
//! | `a` task | head of a running task: few, all read when the store is opened |
//! | `h` task | head of a settled task, in the order in which the tasks were made |
//! | `c` task, first event, part | a record, in parts of at most [`PART_BYTES_MAX`] |
//! | `o` owner, time, task | settled tasks of an owner, latest first → state |
//! | `x` owner, context, time, task | the same within a context → state |
//! | `s` owner, state, time, task | the same within a state |
//! | `i` owner, kind, key | a replay key → task, digest |
//! | `n` owner | settled tasks by state, nine counters; under no owner, those that are in no list |
//! | `p` task, id | a webhook |
//! | `q` task, id | how far its deliveries are |
//! | `f` owner, task, id | webhooks whose deliveries fail → nothing |
//! | `u` base | tasks and bytes of an owner in every tenant |
//! | `w` base, task | its tasks, in the order in which they were made → nothing |
//! | `e` base, time, task | those that have ended, earliest first → nothing |
//! | `g` hours kept, time, task | all that have ended, earliest first → nothing |
//! | `k` base, tenant, context | tasks and turns of a context |
//! | `y` base, tenant, context, capability | what the last run left for the next |
//! | `v` base, tenant, peer | the present conversation with a peer |
//! | `z` base | an owner that is being forgotten → nothing |
//!
//! Running tasks are in no list index: they are few, they are in memory, and most tasks change their status twice.
//! So a message that is answered at once costs sixteen writes, in two batches.

pub(super) mod owner;

use weft_core::list::Cursor;
use weft_proto::a2a::TaskState;

use super::kv::Batch;
use super::{Broken, Claimed};
use crate::TaskId;
use crate::record::{Head, Record, Replay};

/// The layout described here; a newer number is refused, an older one taken up. 1 had no webhooks, 2 nothing by
/// base.
pub(super) const FORMAT: u32 = 3;
/// What older formats lack is made when they are opened; see [`super::upgrade`].
pub(super) const BY_BASE: u32 = 3;
/// Larger values would leave the log of the embedded store for files that it never syncs.
pub(super) const PART_BYTES_MAX: usize = 60 * 1024;
/// Number of states, UNSPECIFIED included.
pub(super) const STATES: usize = 9;

pub(super) const RUNNING: u8 = b'a';
pub(super) const SETTLED: u8 = b'h';
pub(super) const RECORDS: u8 = b'c';
pub(super) const COUNTS: u8 = b'n';
pub(super) const PUSHES: u8 = b'p';
pub(super) const DELIVERIES: u8 = b'q';

pub(super) fn meta(name: &str) -> Vec<u8> {
    [b"m", name.as_bytes()].concat()
}

pub(super) fn head(running: bool, task: TaskId) -> Vec<u8> {
    [&[if running { RUNNING } else { SETTLED }], task.bytes().as_slice()].concat()
}

/// All keys that begin with `prefix` lie before this one.
pub(super) fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}

pub(super) fn records(task: TaskId) -> Vec<u8> {
    [&[RECORDS], task.bytes().as_slice()].concat()
}

pub(super) fn record(task: TaskId, first: u64, part: u16) -> Vec<u8> {
    let mut key = records(task);
    key.extend_from_slice(&first.to_be_bytes());
    key.extend_from_slice(&part.to_be_bytes());
    key
}

/// The first event of the record that a key belongs to.
pub(super) fn first_of(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(17..25)?.try_into().ok()?))
}

pub(super) fn replay(owner: &str, replay: &Replay) -> Vec<u8> {
    let mut key = scoped(b'i', owner);
    key.push(if replay.by_message { b'm' } else { b'k' });
    key.extend_from_slice(replay.key.as_bytes());
    key
}

pub(super) fn counts(owner: &str) -> Vec<u8> {
    scoped(COUNTS, owner)
}

/// All webhooks of a task, or how far they are.
pub(super) fn pushes(kind: u8, task: TaskId) -> Vec<u8> {
    [&[kind], task.bytes().as_slice()].concat()
}

/// One webhook, or how far it is.
pub(super) fn push(kind: u8, task: TaskId, id: &str) -> Vec<u8> {
    [&[kind], task.bytes().as_slice(), id.as_bytes()].concat()
}

/// Task and id of a key of [`push`].
pub(super) fn read_push(key: &[u8]) -> Result<(TaskId, String), Broken> {
    named(key.get(1..).unwrap_or_default())
}

/// All failing webhooks of an owner.
pub(super) fn failings(owner: &str) -> Vec<u8> {
    scoped(b'f', owner)
}

/// The mark of a failing webhook.
pub(super) fn failing(owner: &str, task: TaskId, id: &str) -> Vec<u8> {
    [failings(owner).as_slice(), task.bytes().as_slice(), id.as_bytes()].concat()
}

/// Task and id of a key of [`failing`], of which [`failings`] is the beginning.
pub(super) fn read_failing(key: &[u8], prefix: &[u8]) -> Result<(TaskId, String), Broken> {
    named(key.get(prefix.len()..).unwrap_or_default())
}

fn named(rest: &[u8]) -> Result<(TaskId, String), Broken> {
    let name = rest.split_first_chunk().and_then(|(task, id)| {
        let id = std::str::from_utf8(id).ok()?;
        Some((TaskId::new(*task), id.to_owned()))
    });
    name.ok_or_else(|| damaged("the key of a webhook"))
}

fn scoped(kind: u8, owner: &str) -> Vec<u8> {
    let mut key = vec![kind];
    push_text(&mut key, owner);
    key
}

/// A text whose length comes first, so that no text is the beginning of another.
fn push_text(key: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    key.extend_from_slice(&length.to_be_bytes());
    key.extend_from_slice(text.as_bytes());
}

/// One of the list indexes.
#[derive(Debug, Clone)]
pub(super) struct Index(Vec<u8>);

impl Index {
    pub(super) fn of_owner(owner: &str) -> Index {
        Index(scoped(b'o', owner))
    }

    pub(super) fn of_context(owner: &str, context: &str) -> Index {
        let mut key = scoped(b'x', owner);
        push_text(&mut key, context);
        Index(key)
    }

    pub(super) fn of_state(owner: &str, state: TaskState) -> Index {
        let mut key = scoped(b's', owner);
        key.push(u8::try_from(i32::from(state)).unwrap_or_default());
        Index(key)
    }

    pub(super) fn key(&self, cursor: Cursor) -> Vec<u8> {
        let mut key = self.0.clone();
        // Later times are lesser keys. The sign bit is flipped, so that times before 1970 sort too.
        key.extend_from_slice(&(!(cursor.status_ms.cast_unsigned() ^ (1 << 63))).to_be_bytes());
        key.extend_from_slice(&cursor.task);
        key
    }

    /// Keys after the cursor, or all.
    pub(super) fn range(&self, after_cursor: Option<Cursor>) -> (Vec<u8>, Vec<u8>) {
        let from = after_cursor.map_or_else(|| self.0.clone(), |cursor| [self.key(cursor), vec![0]].concat());
        (from, after(&self.0))
    }

    pub(super) fn cursor(&self, key: &[u8]) -> Result<Cursor, Broken> {
        let rest: &[u8; 24] = key
            .get(self.0.len()..)
            .and_then(|rest| rest.try_into().ok())
            .ok_or_else(|| damaged("a list index"))?;
        let (mut time, mut task) = ([0; 8], [0; 16]);
        time.copy_from_slice(&rest[..8]);
        task.copy_from_slice(&rest[8..]);
        Ok(Cursor { status_ms: (!u64::from_be_bytes(time) ^ (1 << 63)).cast_signed(), task })
    }
}

/// The index keys of a settled task; a hidden one is in no list.
pub(super) fn indexes(head: &Head) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let (cursor, state) = (head.cursor(), vec![u8::try_from(head.state).unwrap_or_default()]);
    let keys = [
        (Index::of_owner(&head.owner).key(cursor), state.clone()),
        (Index::of_context(&head.owner, &head.context).key(cursor), state),
        (Index::of_state(&head.owner, head.state()).key(cursor), Vec::new()),
    ];
    keys.into_iter().filter(|_| !head.hidden)
}

/// Whose counters hold a settled task: its owner's, or those of nobody when it is hidden.
pub(super) fn counted_for(head: &Head) -> &str {
    if head.hidden { "" } else { &head.owner }
}

/// A record in parts.
pub(super) fn put_record(batch: &mut Batch, task: TaskId, first: u64, bytes: &[u8]) {
    for (part, bytes) in bytes.chunks(PART_BYTES_MAX).enumerate() {
        batch.put(record(task, first, u16::try_from(part).unwrap_or(u16::MAX)), bytes.to_vec());
    }
}

/// Joins the parts of records as they come in key order.
#[derive(Default)]
pub(super) struct Joiner {
    first: Option<u64>,
    bytes: Vec<u8>,
    pub(super) records: Vec<Record>,
}

impl Joiner {
    pub(super) fn take(&mut self, key: &[u8], part: &[u8]) -> Result<(), Broken> {
        let first = first_of(key);
        if first != self.first {
            self.finish()?;
            self.first = first;
        }
        self.bytes.extend_from_slice(part);
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Broken> {
        if self.first.take().is_some() {
            let bytes = std::mem::take(&mut self.bytes);
            self.records.push(decode(bytes.as_slice(), "a record")?);
        }
        Ok(())
    }
}

pub(super) fn claimed(task: TaskId, digest: &[u8]) -> Vec<u8> {
    [task.bytes().as_slice(), digest].concat()
}

pub(super) fn read_claimed(bytes: &[u8]) -> Result<Claimed, Broken> {
    let (task, digest) = bytes.split_first_chunk().ok_or_else(|| damaged("a replay key"))?;
    Ok(Claimed { task: TaskId::new(*task), digest: digest.to_vec() })
}

pub(super) fn read_counts(bytes: Option<Vec<u8>>) -> Result<[u64; STATES], Broken> {
    let mut counts = [0; STATES];
    if let Some(bytes) = bytes {
        if bytes.len() != STATES * 8 {
            return Err(damaged("a counter"));
        }
        for (count, bytes) in counts.iter_mut().zip(bytes.as_chunks().0) {
            *count = u64::from_be_bytes(*bytes);
        }
    }
    Ok(counts)
}

pub(super) fn write_counts(counts: &[u64; STATES]) -> Vec<u8> {
    counts.iter().flat_map(|count| count.to_be_bytes()).collect()
}

pub(super) fn decode<M: prost::Message + Default>(bytes: &[u8], what: &str) -> Result<M, Broken> {
    M::decode(bytes).map_err(|error| Broken(format!("{}: {error}", damaged(what).0)))
}

pub(super) fn damaged(what: &str) -> Broken {
    Broken(format!(
        "the store is damaged at {what}; see `weft store check`, recover with `weft store restore`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_keys_sort_as_cursors_do() {
        let index = Index::of_owner("local");
        let mut cursors: Vec<_> = [i64::MIN, -1, 0, 1, 1_767_225_600_000, i64::MAX]
            .into_iter()
            .flat_map(|status_ms| [0u8, 7, 255].map(|id| Cursor { status_ms, task: [id; 16] }))
            .collect();
        cursors.sort();
        let keys: Vec<_> = cursors.iter().map(|cursor| index.key(*cursor)).collect();
        assert!(keys.is_sorted());
        for (key, cursor) in keys.iter().zip(cursors) {
            assert_eq!(index.cursor(key), Ok(cursor));
        }
    }

    #[test]
    fn an_owner_whose_name_begins_like_anothers_has_keys_of_its_own() {
        let (from, to) = Index::of_owner("ab").range(None);
        let foreign = Index::of_owner("abc").key(Cursor { status_ms: 0, task: [0; 16] });
        assert!(foreign < from || foreign >= to);
    }

    #[test]
    fn a_record_of_many_parts_joins_again() {
        let mut record = Record { first: 3, ..Record::default() };
        record.turn = Some(crate::record::Turn { traceparent: "x".repeat(200_000), ..Default::default() });
        let task = TaskId::new([1; 16]);
        let mut batch = Batch::default();
        put_record(&mut batch, task, 3, &prost::Message::encode_to_vec(&record));
        assert!(batch.writes.len() > 3);
        let mut joiner = Joiner::default();
        for (key, value) in &batch.writes {
            assert!(value.as_ref().unwrap().len() <= 64 * 1024);
            joiner.take(key, value.as_ref().unwrap()).unwrap();
        }
        joiner.finish().unwrap();
        assert_eq!(joiner.records, [record]);
    }
}
