//! Everything that is written twice, compared.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod by_base;

use super::{OpenError, Report, each_head, each_push, each_record};
use crate::TaskId;
use crate::record::{Head, Record};
use crate::store::kv::Kv;
use crate::store::layout::{self, STATES};
use crate::store::{Broken, Stored};
use by_base::ByBase;

/// Problems told in full; of more only the number is told.
const PROBLEMS_MAX: usize = 100;

#[derive(Default)]
struct Checker {
    report: Report,
    more: usize,
    tasks: HashSet<TaskId>,
    counts: HashMap<String, [u64; STATES]>,
    settled: u64,
    /// Webhooks by the count of their tasks, and those found with their tasks that fail.
    pushes: u64,
    failing: u64,
    by_base: ByBase,
}

/// Reads everything of a store of this format.
pub(super) fn check<K: Kv>(kv: &K, format: u32) -> Result<Report, OpenError> {
    let mut checker = Checker::default();
    for running in [true, false] {
        each_head(kv, running, &mut |head| {
            checker.task(kv, head, running);
            Ok(())
        })?;
    }
    checker.orphans(kv)?;
    checker.counters(kv)?;
    // Older stores get theirs when they are opened.
    if format >= layout::BY_BASE {
        let by_base = std::mem::take(&mut checker.by_base);
        by_base.check(kv, &mut |text| checker.problem(text))?;
    }
    if checker.more > 0 {
        let more = format!("and {} more problems", checker.more);
        checker.report.problems.push(more);
    }
    Ok(checker.report)
}

impl Checker {
    fn problem(&mut self, text: String) {
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(text);
        } else {
            self.more += 1;
        }
    }

    fn task<K: Kv>(&mut self, kv: &K, head: &Head, running: bool) {
        let id = head.id();
        self.report.tasks += 1;
        self.report.events += head.seq;
        self.by_base.take(head);
        if !self.tasks.insert(id) {
            self.problem(format!("task {id} has two heads"));
        }
        if head.is_running() != running {
            self.problem(format!("task {id} is filed as running and is not, or the other way round"));
        }
        if let Err(text) = records(kv, head) {
            self.problem(format!("task {id}: {text}"));
        }
        match self.webhooks(kv, id) {
            Ok(found) if found == head.pushes => self.pushes += u64::from(found),
            Ok(found) => {
                self.problem(format!("task {id} has {found} webhooks, its head says {}", head.pushes))
            }
            Err(error) => self.problem(format!("task {id}: {}", error.0)),
        }
        if !running {
            self.settled += u64::from(!head.hidden);
            if let Some(count) = usize::try_from(head.state).ok().filter(|state| *state < STATES) {
                let owner = layout::counted_for(head).to_owned();
                self.counts.entry(owner).or_insert([0; STATES])[count] += 1;
            }
            for (key, _) in layout::indexes(head) {
                if !matches!(kv.get(&key), Ok(Some(_))) {
                    self.problem(format!("task {id} is missing from a list"));
                }
            }
        }
    }

    /// Webhooks of a task that say how far they are.
    fn webhooks<K: Kv>(&mut self, kv: &K, id: TaskId) -> Result<u32, OpenError> {
        let mut found = 0;
        each_push(kv, id, &mut |push, delivery| {
            found += 1;
            if delivery.is_failing() {
                self.failing += 1;
                if kv.get(&layout::failing(&push.owner, id, &push.id))?.is_none() {
                    return Err(Broken("a failing webhook is not listed".to_owned()).into());
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Records, list entries, webhooks and replay keys that lead to no task.
    fn orphans<K: Kv>(&mut self, kv: &K) -> Result<(), OpenError> {
        let mut lost = HashSet::new();
        kv.scan(&[layout::RECORDS], &[layout::RECORDS + 1], &mut |key, _| {
            if let Some(id) = key.get(1..17).and_then(|id| id.try_into().ok()).map(TaskId::new)
                && !self.tasks.contains(&id)
            {
                lost.insert(id);
            }
            Ok(true)
        })?;
        for id in lost {
            self.problem(format!("records of an unknown task {id}"));
        }
        for kind in *b"oxs" {
            let mut entries = 0;
            kv.scan(&[kind], &[kind + 1], &mut |_, _| {
                entries += 1;
                Ok(true)
            })?;
            if entries != self.settled {
                let text =
                    format!("a list ({}) has {entries} entries for {} tasks", char::from(kind), self.settled);
                self.problem(text);
            }
        }
        for (kind, expected) in [(b'p', self.pushes), (b'q', self.pushes), (b'f', self.failing)] {
            let mut entries = 0;
            kv.scan(&[kind], &[kind + 1], &mut |_, _| {
                entries += 1;
                Ok(true)
            })?;
            if entries != expected {
                let text = format!("webhooks ({}): {entries} entries for {expected}", char::from(kind));
                self.problem(text);
            }
        }
        let mut dangling = 0;
        kv.scan(b"i", b"j", &mut |_, value| {
            dangling += u64::from(!self.tasks.contains(&layout::read_claimed(value)?.task));
            Ok(true)
        })?;
        if dangling > 0 {
            self.problem(format!("{dangling} replay keys lead to no task"));
        }
        Ok(())
    }

    fn counters<K: Kv>(&mut self, kv: &K) -> Result<(), OpenError> {
        let mut wrong = Vec::new();
        let expected = std::mem::take(&mut self.counts);
        let mut known = 0;
        kv.scan(&[layout::COUNTS], &[layout::COUNTS + 1], &mut |key, value| {
            known += 1;
            let owner = String::from_utf8_lossy(key.get(3..).unwrap_or_default()).into_owned();
            if expected.get(&owner) != Some(&layout::read_counts(Some(value.to_vec()))?) {
                wrong.push(owner);
            }
            Ok(true)
        })?;
        for owner in wrong {
            self.problem(format!("the counters of owner {owner} are wrong"));
        }
        if known != expected.len() {
            self.problem(format!("{known} owners have counters, {} have tasks", expected.len()));
        }
        Ok(())
    }
}

/// What is wrong with a task's records.
fn records<K: Kv>(kv: &K, head: &Head) -> Result<(), String> {
    let (mut found, mut next) = (Vec::new(), 1);
    each_record(kv, head.id(), &mut |bytes| {
        let record: Record = layout::decode(bytes, "a record")?;
        if record.first != next {
            return Err(Broken(format!("event {next} is missing")).into());
        }
        next += record.events.len() as u64;
        found.push(record);
        Ok(())
    })
    .map_err(|error| error.0)?;
    if next != head.seq + 1 {
        return Err(format!("{} events are kept of {}", next - 1, head.seq));
    }
    let folded = Stored::fold(Arc::new(head.clone()), found);
    let state = folded.task.status.map_or(0, |status| status.state);
    if state != head.state {
        return Err("its head and its events tell different states".into());
    }
    Ok(())
}
