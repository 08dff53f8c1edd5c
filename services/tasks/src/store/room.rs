//! Room for what is new: within what an owner and the store may keep, the oldest ended tasks go.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::ask::{Ask, Must};
use super::engine::Shared;
use super::group::Group;
use super::kv::Kv;
use super::layout::{self, owner};
use super::{Broken, Full, Refused, Used};
use crate::TaskId;
use crate::record::Head;

/// Most that goes for one commit, in tasks and bytes; where a limit was lowered by more, the next commits go on.
const TASKS_AT_ONCE: usize = 32;
const BYTES_AT_ONCE: u64 = 32 * 1024 * 1024;

/// What is to go.
#[derive(Default)]
struct Room {
    heads: Vec<Head>,
    taken: HashSet<TaskId>,
    bytes: u64,
}

impl Room {
    fn take(&mut self, head: Head) {
        self.bytes += head.bytes;
        self.taken.insert(head.id());
        self.heads.push(head);
    }

    /// True when more must not go for one commit.
    fn is_much(&self) -> bool {
        self.heads.len() >= TASKS_AT_ONCE || self.bytes >= BYTES_AT_ONCE
    }
}

impl<K: Kv> Shared<K> {
    /// The tasks that go for this commit; none when it fits, or makes nothing new.
    pub(super) fn room(&self, group: &Group, ask: &Ask) -> Result<Vec<Head>, Refused> {
        let Some(context) = ask.context.as_ref().filter(|context| context.turns > 0) else {
            return Ok(Vec::new());
        };
        let new = matches!(ask.must, Must::Version(None));
        let limits = ask.limits;
        if limits.turns_max > 0 {
            let used = owner::read_used(self.kv.get(&context.key)?.as_deref())?;
            let turns = used.bytes.saturating_add_signed(group.turns_more(&context.key));
            if turns >= u64::from(limits.turns_max) {
                return Err(Refused::Full(Full::Turns));
            }
        }
        let mut room = Room::default();
        let used = self.used_within(group, &ask.base)?;
        let fits_owner = |room: &Room| {
            let tasks = used.tasks.saturating_sub(room.heads.len() as u64);
            let bytes = used.bytes.saturating_add_signed(ask.more.1).saturating_sub(room.bytes);
            if new && limits.tasks_max > 0 && tasks >= limits.tasks_max {
                return Some(Full::OwnerTasks);
            }
            (limits.bytes_max > 0 && bytes > limits.bytes_max).then_some(Full::OwnerBytes)
        };
        if let Some(full) = fits_owner(&room) {
            self.oldest(owner::range(owner::of_base(owner::ENDED, &ask.base)), &mut |head| {
                if head.id() != ask.task && group.leaves(head.id()) {
                    room.take(head);
                }
                Ok(!room.is_much() && fits_owner(&room).is_some())
            })?;
            if fits_owner(&room).is_some() && !room.is_much() {
                return Err(Refused::Full(full));
            }
        }
        if new {
            let total = self.total.load(Ordering::Acquire).saturating_add_signed(group.grown());
            let fits = |room: &Room| total.saturating_sub(room.heads.len() as u64) < self.tasks_max;
            while !fits(&room) && !room.is_much() {
                let goes = |head: &Head| group.leaves(head.id()) && !room.taken.contains(&head.id());
                match self.oldest_of_all(&goes)? {
                    Some(head) => room.take(head),
                    None => return Err(Refused::Full(Full::Tasks)),
                }
            }
            if self.bytes_lately() > self.bytes_max {
                return Err(Refused::Full(Full::Bytes));
            }
        }
        Ok(room.heads)
    }

    /// What a base keeps now, with what the group adds.
    fn used_within(&self, group: &Group, base: &str) -> Result<Used, Broken> {
        let used = self.used(base)?;
        let (tasks, bytes) = group.more_of(base);
        Ok(Used {
            tasks: used.tasks.saturating_add_signed(tasks),
            bytes: used.bytes.saturating_add_signed(bytes),
        })
    }

    /// What a base keeps on disk.
    pub(super) fn used(&self, base: &str) -> Result<Used, Broken> {
        owner::read_used(self.kv.get(&owner::of_base(owner::USED, base))?.as_deref())
    }

    /// Ended tasks in the order of a range of their list, until `visit` answers false.
    pub(super) fn oldest(
        &self,
        (from, to): (Vec<u8>, Vec<u8>),
        visit: &mut dyn FnMut(Head) -> Result<bool, Broken>,
    ) -> Result<(), Broken> {
        self.kv.scan(&from, &to, &mut |key, _| {
            let task = owner::task_of(key)?;
            let bytes = self.kv.get(&layout::head(false, task))?;
            let bytes = bytes.ok_or_else(|| layout::damaged("the list of ended tasks"))?;
            visit(layout::decode(bytes.as_slice(), "a head")?)
        })
    }

    /// The task that ended first among those that may go.
    pub(super) fn oldest_of_all(&self, goes: &dyn Fn(&Head) -> bool) -> Result<Option<Head>, Broken> {
        let mut oldest: Option<Head> = None;
        for keep in self.keeps()? {
            self.oldest(owner::range(owner::over(keep)), &mut |head| {
                if !goes(&head) {
                    return Ok(true);
                }
                if oldest.as_ref().is_none_or(|oldest| head.status_ms < oldest.status_ms) {
                    oldest = Some(head);
                }
                Ok(false)
            })?;
        }
        Ok(oldest)
    }

    /// For how long tasks are kept, each time once: few, since owners are configured alike.
    pub(super) fn keeps(&self) -> Result<Vec<u32>, Broken> {
        let (mut keeps, (_, to)) = (Vec::new(), owner::all(owner::OVER));
        let mut from = Some(vec![owner::OVER]);
        while let Some(next) = from.take() {
            self.kv.scan(&next, &to, &mut |key, _| {
                let keep = owner::keep_of(key)?;
                keeps.push(keep);
                from = keep.checked_add(1).map(owner::over);
                Ok(false)
            })?;
        }
        Ok(keeps)
    }

    /// True while everything of this base is being removed.
    pub(super) fn forgets(&self, base: &str) -> bool {
        self.forgetting.read().unwrap_or_else(PoisonError::into_inner).contains(base)
    }
}
