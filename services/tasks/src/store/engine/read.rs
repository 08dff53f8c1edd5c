//! Reading one task, and the keys of one that is to be removed.

use super::Shared;
use crate::TaskId;
use crate::record::{Head, Record};
use crate::store::kv::Kv;
use crate::store::layout::{self, Joiner};
use crate::store::{Broken, Stored};
use weft_core::task::is_terminal;

impl<K: Kv> Shared<K> {
    pub(super) fn load(&self, task: TaskId) -> Result<Option<Stored>, Broken> {
        let Some(head) = self.head(task)? else { return Ok(None) };
        // A commit that lands meanwhile writes later records; they are not this head's.
        let to = layout::record(task, head.seq + 1, 0);
        let records = self.joined(&layout::records(task), &to, usize::MAX)?;
        Ok(Some(Stored::fold(head, records)))
    }

    pub(super) fn records(&self, task: TaskId, from: u64, most: usize) -> Result<Vec<Record>, Broken> {
        let prefix = layout::records(task);
        let Some(last) = self.kv.last(&prefix, &layout::record(task, from, u16::MAX))? else {
            return Ok(Vec::new());
        };
        let Some(first) = layout::first_of(&last) else { return Err(layout::damaged("a record's key")) };
        self.joined(&layout::record(task, first, 0), &layout::after(&prefix), most)
    }

    fn joined(&self, from: &[u8], to: &[u8], most: usize) -> Result<Vec<Record>, Broken> {
        let mut joiner = Joiner::default();
        self.kv.scan(from, to, &mut |key, part| {
            joiner.take(key, part)?;
            Ok(joiner.records.len() < most)
        })?;
        if joiner.records.len() < most {
            joiner.finish()?;
        }
        Ok(joiner.records)
    }

    /// Terminal tasks in the order in which they were made; see [`crate::store::Store::ended`].
    pub(super) fn ended(
        &self,
        after: Option<TaskId>,
        before_ms: i64,
        most: usize,
    ) -> Result<(Vec<Head>, Option<TaskId>), Broken> {
        let from =
            after.map_or_else(|| vec![layout::SETTLED], |task| [layout::head(false, task), vec![0]].concat());
        let to = layout::head(false, TaskId::since_ms(before_ms));
        let (mut heads, mut seen, mut more) = (Vec::new(), 0, None);
        self.kv.scan(&from, &to, &mut |_, bytes| {
            let head: Head = layout::decode(bytes, "a head")?;
            seen += 1;
            if seen >= most {
                more = Some(head.id());
            }
            if is_terminal(head.state()) {
                heads.push(head);
            }
            Ok(more.is_none())
        })?;
        Ok((heads, more))
    }

    /// The keys of a task's records, replays and webhooks.
    pub(super) fn keys_of(&self, task: TaskId, owner: &str) -> Result<Vec<Vec<u8>>, Broken> {
        let prefix = layout::records(task);
        let (mut keys, mut joiner) = (Vec::new(), Joiner::default());
        self.kv.scan(&prefix, &layout::after(&prefix), &mut |key, part| {
            keys.push(key.to_vec());
            joiner.take(key, part)?;
            for record in joiner.records.drain(..) {
                keys.extend(replays(owner, &record));
            }
            Ok(true)
        })?;
        joiner.finish()?;
        joiner.records.iter().for_each(|record| keys.extend(replays(owner, record)));
        for webhook in self.webhooks(task)? {
            keys.push(layout::push(layout::PUSHES, task, &webhook.push.id));
            keys.push(layout::push(layout::DELIVERIES, task, &webhook.push.id));
            keys.push(layout::failing(owner, task, &webhook.push.id));
        }
        Ok(keys)
    }
}

fn replays(owner: &str, record: &Record) -> Vec<Vec<u8>> {
    let turn = record.turn.iter().flat_map(|turn| &turn.replays);
    turn.map(|replay| layout::replay(owner, replay)).collect()
}
