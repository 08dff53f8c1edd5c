//! The running tasks, in memory: few, and the ones that change.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use weft_core::list::Cursor;

use crate::TaskId;
use crate::record::Head;
use crate::store::kv::Kv;
use crate::store::{Broken, layout};

/// Heads of running tasks, and their order by owner.
#[derive(Default)]
pub(crate) struct View {
    heads: HashMap<TaskId, Arc<Head>>,
    owners: HashMap<String, BTreeSet<Cursor>>,
}

impl View {
    /// Reads the running tasks; with them the number of all tasks.
    pub(super) fn read<K: Kv>(kv: &K) -> Result<(View, u64), Broken> {
        let mut view = View::default();
        kv.scan(&[layout::RUNNING], &[layout::RUNNING + 1], &mut |_, bytes| {
            let head: Head = layout::decode(bytes, "the head of a running task")?;
            view.set(head.id(), Some(Arc::new(head)));
            Ok(true)
        })?;
        let mut total = view.heads.len() as u64;
        kv.scan(&[layout::COUNTS], &[layout::COUNTS + 1], &mut |_, bytes| {
            total += layout::read_counts(Some(bytes.to_vec()))?.iter().sum::<u64>();
            Ok(true)
        })?;
        Ok((view, total))
    }

    pub(crate) fn get(&self, task: TaskId) -> Option<&Arc<Head>> {
        self.heads.get(&task)
    }

    /// Replaces what is known of a task; `None`: it does not run.
    pub(crate) fn set(&mut self, task: TaskId, head: Option<Arc<Head>>) {
        if let Some(old) = self.heads.remove(&task)
            && let Some(order) = self.owners.get_mut(&old.owner)
        {
            order.remove(&old.cursor());
            if order.is_empty() {
                self.owners.remove(&old.owner);
            }
        }
        if let Some(head) = head {
            match self.owners.get_mut(&head.owner) {
                Some(order) => order.insert(head.cursor()),
                None => self.owners.entry(head.owner.clone()).or_default().insert(head.cursor()),
            };
            self.heads.insert(task, head);
        }
    }

    /// Running tasks of an owner after a place in the order.
    pub(super) fn of_owner<'a>(
        &'a self,
        owner: &str,
        after: Option<Cursor>,
    ) -> impl Iterator<Item = &'a Arc<Head>> + use<'a> {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        let order = self.owners.get(owner).into_iter().flat_map(move |order| order.range((from, Unbounded)));
        order.filter_map(|cursor| self.heads.get(&TaskId::new(cursor.task)))
    }

    /// All of them, oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Head>> {
        let mut heads: Vec<_> = self.heads.values().cloned().collect();
        heads.sort_by_key(|head| head.id());
        heads
    }
}
