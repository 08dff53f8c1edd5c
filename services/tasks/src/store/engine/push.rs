//! Reading webhooks.

use super::Shared;
use crate::TaskId;
use crate::record::{Delivery, Push};
use crate::store::kv::Kv;
use crate::store::layout::{self, DELIVERIES, PUSHES};
use crate::store::{Broken, Webhook, Webhooks};

impl<K: Kv> Shared<K> {
    pub(super) fn webhooks(&self, task: TaskId) -> Result<Vec<Webhook>, Broken> {
        let prefix = layout::pushes(PUSHES, task);
        let mut pushes: Vec<Push> = Vec::new();
        self.kv.scan(&prefix, &layout::after(&prefix), &mut |_, bytes| {
            pushes.push(layout::decode(bytes, "a webhook")?);
            Ok(true)
        })?;
        let last = self.last(task)?;
        let complete = |push: Push| {
            let delivery = self.delivery(task, &push.id)?;
            Ok(Webhook { task, push, delivery, last })
        };
        pushes.into_iter().map(complete).collect()
    }

    pub(super) fn webhook(&self, task: TaskId, id: &str) -> Result<Option<Webhook>, Broken> {
        let Some(bytes) = self.kv.get(&layout::push(PUSHES, task, id))? else { return Ok(None) };
        let push = layout::decode(bytes.as_slice(), "a webhook")?;
        Ok(Some(Webhook { task, push, delivery: self.delivery(task, id)?, last: self.last(task)? }))
    }

    pub(super) fn failing(
        &self,
        owner: &str,
        after: Option<(TaskId, String)>,
        most: usize,
    ) -> Result<Vec<Webhook>, Broken> {
        let prefix = layout::failings(owner);
        let from = match after {
            Some((task, id)) => [layout::failing(owner, task, &id), vec![0]].concat(),
            None => prefix.clone(),
        };
        let mut names = Vec::new();
        self.kv.scan(&from, &layout::after(&prefix), &mut |key, _| {
            if names.len() < most {
                names.push(layout::read_failing(key, &prefix)?);
            }
            Ok(names.len() < most)
        })?;
        let found = names.into_iter().map(|(task, id)| self.webhook(task, &id).transpose());
        found.flatten().collect()
    }

    pub(super) fn undelivered(
        &self,
        after: Option<(TaskId, String)>,
        most: usize,
    ) -> Result<Webhooks, Broken> {
        let from = match after {
            Some((task, id)) => [layout::push(DELIVERIES, task, &id), vec![0]].concat(),
            None => vec![DELIVERIES],
        };
        let (mut names, mut seen, mut more) = (Vec::new(), 0, None);
        self.kv.scan(&from, &[DELIVERIES + 1], &mut |key, bytes| {
            let delivery: Delivery = layout::decode(bytes, "a delivery")?;
            let name = layout::read_push(key)?;
            seen += 1;
            if seen >= most {
                more = Some(name.clone());
            }
            if !delivery.is_over() {
                names.push(name);
            }
            Ok(more.is_none())
        })?;
        let found = names.into_iter().map(|(task, id)| self.webhook(task, &id).transpose());
        Ok((found.flatten().collect::<Result<_, _>>()?, more))
    }

    fn delivery(&self, task: TaskId, id: &str) -> Result<Delivery, Broken> {
        let bytes = self.kv.get(&layout::push(DELIVERIES, task, id))?;
        bytes.map_or_else(|| Ok(Delivery::default()), |bytes| layout::decode(bytes.as_slice(), "a delivery"))
    }

    fn last(&self, task: TaskId) -> Result<u64, Broken> {
        Ok(self.head(task)?.map_or(0, |head| head.seq))
    }
}
