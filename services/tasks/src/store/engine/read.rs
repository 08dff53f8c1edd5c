//! Reading one task, and the keys of one that is to be removed.

use std::sync::{Arc, PoisonError};

use super::Shared;
use crate::TaskId;
use crate::record::{Head, Record};
use crate::store::kv::Kv;
use crate::store::layout::{self, Joiner, owner};
use crate::store::{Broken, Keep, Stored};

impl<K: Kv> Shared<K> {
    pub(in crate::store) fn load(&self, task: TaskId) -> Result<Option<Stored>, Broken> {
        self.whole(self.head(task)?)
    }

    /// Somebody else's task costs what none does: one look at the disk.
    pub(super) fn load_of(&self, owner: &str, task: TaskId) -> Result<Option<Stored>, Broken> {
        let running = {
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            view.get(task).filter(|head| head.owner == owner).cloned()
        };
        if running.is_some() {
            return self.whole(running);
        }
        let bytes = self.kv.get(&layout::head(false, task))?;
        let head: Option<Head> = bytes.map(|bytes| layout::decode(bytes.as_slice(), "a head")).transpose()?;
        self.whole(head.filter(|head| head.owner == owner).map(Arc::new))
    }

    fn whole(&self, head: Option<Arc<Head>>) -> Result<Option<Stored>, Broken> {
        let Some(head) = head else { return Ok(None) };
        // A commit that lands meanwhile writes later records; they are not this head's.
        let to = layout::record(head.id(), head.seq + 1, 0);
        let records = self.joined(&layout::records(head.id()), &to, usize::MAX)?;
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

    /// Ended tasks that were kept long enough; see [`crate::store::Store::over`].
    pub(super) fn over(&self, keep: Keep, now_ms: i64, most: usize) -> Result<Vec<Head>, Broken> {
        let mut heads = Vec::new();
        for group in self.keeps()? {
            let hours = match group {
                0 => keep.hours,
                owner::ANONYMOUS => keep.anonymous_hours,
                hours => hours,
            };
            let cutoff = now_ms.saturating_sub(i64::from(hours) * 3_600_000);
            let range = (owner::over(group), owner::over_before(group, cutoff));
            self.oldest(range, &mut |head| {
                heads.push(head);
                Ok(heads.len() < most)
            })?;
            if heads.len() >= most {
                break;
            }
        }
        Ok(heads)
    }

    /// The keys of a task's records, replays and webhooks.
    pub(in crate::store) fn keys_of(&self, task: TaskId, owner: &str) -> Result<Vec<Vec<u8>>, Broken> {
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
