//! A page of a list: the disk's index and the running tasks, merged.

use std::sync::{Arc, PoisonError};

use weft_core::list::{Cursor, Query};
use weft_core::task::is_settled;
use weft_proto::a2a::TaskState;

use super::Shared;
use super::view::View;
use crate::TaskId;
use crate::record::Head;
use crate::store::kv::Kv;
use crate::store::layout::{self, Index};
use crate::store::{Broken, Page};

/// Index entries looked at while a writer has to wait.
const STEP: usize = 256;

/// Which index answers a query, and what is left to filter.
struct Plan<'a> {
    query: &'a Query,
    /// `None`: no settled task can match.
    index: Option<Index>,
    by_context: bool,
}

impl<K: Kv> Shared<K> {
    pub(super) fn list(&self, query: &Query) -> Result<Page, Broken> {
        let plan = Plan::of(query);
        let (mut found, mut after) = (Vec::new(), query.after);
        while found.len() <= query.page {
            let step = self.step(&plan, after, query.page + 1 - found.len())?;
            found.extend(step.heads);
            after = step.on;
            if after.is_none() {
                break;
            }
        }
        let more = (found.len() > query.page).then(|| found[query.page - 1].cursor());
        found.truncate(query.page);
        Ok(Page { heads: found, more, total: self.total_of(&plan)? })
    }

    /// Some matches after a place, and where to go on, at one moment.
    fn step(&self, plan: &Plan<'_>, after: Option<Cursor>, most: usize) -> Result<Step, Broken> {
        let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
        let (mut settled, mut reached) = (Vec::new(), None);
        if let Some(index) = &plan.index {
            let (from, to) = index.range(after);
            let mut seen = 0;
            self.kv.scan(&from, &to, &mut |key, value| {
                let cursor = index.cursor(key)?;
                if plan.is_over(cursor) {
                    return Ok(false);
                }
                if plan.takes_entry(value) {
                    settled.push(cursor);
                }
                seen += 1;
                if seen >= STEP || settled.len() >= most {
                    reached = Some(cursor);
                }
                Ok(reached.is_none())
            })?;
        }
        let running =
            plan.running(&view, after).take_while(|head| reached.is_none_or(|end| head.cursor() <= end));
        let mut heads: Vec<Arc<Head>> = running.take(most).cloned().collect();
        for cursor in settled {
            let bytes = self.kv.get(&layout::head(false, TaskId::new(cursor.task)))?;
            let bytes = bytes.ok_or_else(|| layout::damaged("a list index"))?;
            heads.push(Arc::new(layout::decode(bytes.as_slice(), "a head")?));
        }
        heads.sort_by_key(|head| head.cursor());
        if heads.len() >= most {
            heads.truncate(most);
            return Ok(Step { on: heads.last().map(|head| head.cursor()), heads });
        }
        Ok(Step { heads, on: reached })
    }

    fn total_of(&self, plan: &Plan<'_>) -> Result<u64, Broken> {
        let running = {
            let view = self.view.read().unwrap_or_else(PoisonError::into_inner);
            plan.running(&view, None).count() as u64
        };
        let Some(index) = &plan.index else { return Ok(running) };
        if !plan.by_context && plan.query.since_ms.is_none() {
            let counts = layout::read_counts(self.kv.get(&layout::counts(plan.query.owner.as_str()))?)?;
            let settled = match plan.query.state {
                Some(state) => {
                    usize::try_from(i32::from(state)).ok().and_then(|at| counts.get(at)).copied().unwrap_or(0)
                }
                None => counts.iter().sum(),
            };
            return Ok(running + settled);
        }
        let (from, to) = index.range(None);
        let mut settled = 0;
        self.kv.scan(&from, &to, &mut |key, value| {
            let over = plan.query.since_ms.is_some() && plan.is_over(index.cursor(key)?);
            settled += u64::from(!over && plan.takes_entry(value));
            Ok(!over)
        })?;
        Ok(running + settled)
    }
}

struct Step {
    heads: Vec<Arc<Head>>,
    on: Option<Cursor>,
}

impl<'a> Plan<'a> {
    fn of(query: &'a Query) -> Plan<'a> {
        let owner = query.owner.as_str();
        let index = match (&query.context, query.state) {
            (_, Some(state)) if !is_settled(state) => None,
            (Some(context), _) => Some(Index::of_context(owner, context)),
            (None, Some(state)) => Some(Index::of_state(owner, state)),
            (None, None) => Some(Index::of_owner(owner)),
        };
        Plan { query, index, by_context: query.context.is_some() }
    }

    /// True for places whose status began too early; all later places do too.
    fn is_over(&self, cursor: Cursor) -> bool {
        self.query.since_ms.is_some_and(|since| cursor.status_ms < since)
    }

    /// The context index holds every state.
    fn takes_entry(&self, value: &[u8]) -> bool {
        let state = value.first().map(|state| i32::from(*state));
        !self.by_context || self.query.state.is_none_or(|wanted| state == Some(i32::from(wanted)))
    }

    fn running<'v>(&'v self, view: &'v View, after: Option<Cursor>) -> impl Iterator<Item = &'v Arc<Head>> {
        let matches = |head: &Head| {
            self.query.context.as_ref().is_none_or(|context| *context == head.context)
                && self.query.state.is_none_or(|state: TaskState| state == head.state())
        };
        view.of_owner(self.query.owner.as_str(), after)
            .take_while(|head| !self.is_over(head.cursor()))
            .filter(move |head| matches(head))
    }
}
