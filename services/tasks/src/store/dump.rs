//! Whole stores in and out of one file: check, backup, restore.
//!
//! The file does not depend on a backend or its layout: a header, then each task as its head, its records and its
//! webhooks, then sessions, conversations and owners that are being forgotten, then an end with a count and a SHA-256 of
//! everything before. It holds no secret but what the signer has wrapped. Restoring builds the indexes and counters
//! anew, so a backup and a restore also make a store small again.

mod check;
mod file;
mod owner;

pub use owner::{Forgotten, export, forget};

use std::fmt;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use prost::Message;
use tokio::sync::oneshot;
use weft_chassis::{Env, Metrics};

use super::ask::Ask;
use super::engine::{Shared, read_format};
use super::kv::{Batch, Kv};
use super::layout::{self, Joiner, owner as keys};
use super::sled::{SledDisk, open_disk};
use super::{OpenError, Refused};
use crate::metrics::Meter;
use crate::record::{Conversation, Delivery, Head, Push, Session};
use crate::{Settings, TaskId};
use file::{Reader, Writer};

/// Tasks written at once by a restore.
const TASKS_AT_ONCE: usize = 128;
/// And their bytes.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// What was found or moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Tasks.
    pub tasks: u64,
    /// Events of all tasks.
    pub events: u64,
    /// What is wrong with the store, one a line; empty: nothing.
    pub problems: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tasks, {} events", self.tasks, self.events)?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

/// Where the task store lies in a data directory.
#[must_use]
pub fn place(data_dir: &Path) -> PathBuf {
    data_dir.join("tasks")
}

/// Reads every key of the store in `data_dir` and compares what is written twice. The store must not be in use.
///
/// # Errors
/// When there is no store, it is in use, or it cannot be opened at all. Damage that leaves it readable is in the report.
pub fn check(data_dir: &Path) -> Result<Report, OpenError> {
    let (disk, format) = existing(data_dir)?;
    guarded(data_dir, || check::check(&disk, format))
}

/// [`check`] of any disk.
pub(super) fn check_keys<K: Kv>(kv: &K) -> Report {
    check::check(kv, layout::FORMAT)
        .unwrap_or_else(|error| Report { problems: vec![error.0], ..Report::default() })
}

/// Writes the store in `data_dir` to a new file. The store must not be in use.
///
/// # Errors
/// When there is no store, it is in use or damaged, or the file exists or cannot be written.
pub fn backup(data_dir: &Path, file: &Path) -> Result<Report, OpenError> {
    let (disk, _) = existing(data_dir)?;
    guarded(data_dir, || {
        let epoch = disk
            .get(&layout::meta("epoch"))?
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_be_bytes);
        let mut writer = Writer::create(file, epoch)?;
        let mut report = Report::default();
        for running in [true, false] {
            each_head(&disk, running, &mut |head| {
                report.tasks += 1;
                report.events += head.seq;
                writer.head(head)?;
                each_record(&disk, head.id(), &mut |bytes| writer.record(bytes))?;
                each_push(&disk, head.id(), &mut |push, delivery| writer.push(push, delivery))
            })?;
        }
        besides(&disk, &mut |besides| writer.besides(besides))?;
        writer.finish(report.tasks)?;
        Ok(report)
    })
}

/// Makes a store in `data_dir` from a file that [`backup`] wrote. Nothing is left behind when it fails.
///
/// # Errors
/// When there is a store already, or the file is no backup, is cut short or changed.
pub fn restore(file: &Path, data_dir: &Path) -> Result<Report, OpenError> {
    let dir = place(data_dir);
    if std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
        let text = format!("{}: is not empty; move it away before restoring into it", dir.display());
        return Err(OpenError(text));
    }
    // The whole file is checked before anything is written.
    Reader::verify(file)?;
    let outcome = guarded(data_dir, || fill(file, &dir));
    if outcome.is_err() {
        let _ = std::fs::remove_dir_all(&dir);
    }
    outcome
}

fn fill(file: &Path, dir: &Path) -> Result<Report, OpenError> {
    let mut reader = Reader::open(file)?;
    let settings = Settings { tasks_max: u64::MAX, ..Settings::default() };
    let disk = open_disk(dir, settings.page_cache_bytes, |file| file)?;
    let shared = open_shared(disk, &settings)?;
    let (mut report, mut asks, mut bytes) = (Report::default(), Vec::new(), 0);
    while let Some(file::Task { head, records, pushes }) = reader.task()? {
        report.tasks += 1;
        report.events += head.seq;
        bytes += usize::try_from(head.bytes).unwrap_or(usize::MAX);
        asks.push(Ask::import(Arc::new(head), &records, &pushes));
        if asks.len() >= TASKS_AT_ONCE || bytes >= BYTES_AT_ONCE {
            write(&shared, std::mem::take(&mut asks))?;
            bytes = 0;
        }
    }
    write(&shared, asks)?;
    for besides in reader.besides().chunks(TASKS_AT_ONCE) {
        let asks = besides.iter().map(|besides| match besides {
            Besides::Session(session) => Ask::session(session),
            Besides::Conversation(conversation) => Ask::conversation(conversation, true),
            Besides::Forgetting(base) => Ask::forget(base),
        });
        write(&shared, asks.collect())?;
    }
    let mut epoch = Batch::default();
    epoch.put(layout::meta("epoch"), reader.epoch().to_be_bytes().to_vec());
    shared.kv.apply(epoch)?;
    shared.kv.sync()?;
    debug_assert_eq!(shared.total.load(Ordering::Acquire), report.tasks);
    Ok(report)
}

/// What is kept besides tasks. Conversations come before the mark of an owner that is being forgotten: then none begins.
enum Besides {
    Session(Session),
    Conversation(Conversation),
    Forgetting(String),
}

fn besides<K: Kv>(kv: &K, visit: &mut dyn FnMut(&Besides) -> Result<(), OpenError>) -> Result<(), OpenError> {
    for kind in [keys::SESSIONS, keys::CONVERSATIONS, keys::FORGETTING] {
        let (mut failed, (from, to)) = (None, keys::all(kind));
        kv.scan(&from, &to, &mut |key, bytes| {
            let found = match kind {
                keys::SESSIONS => Besides::Session(layout::decode(bytes, "a session")?),
                keys::CONVERSATIONS => Besides::Conversation(layout::decode(bytes, "a conversation")?),
                _ => Besides::Forgetting(keys::read_base(key)?),
            };
            failed = visit(&found).err();
            Ok(failed.is_none())
        })?;
        failed.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// The store on a disk, without its writer.
fn open_shared<K: Kv>(disk: K, settings: &Settings) -> Result<Shared<K>, OpenError> {
    let mut secret = [0; 32];
    Env::system().fill(&mut secret);
    Shared::open(disk, settings, Meter::new(&Metrics::default()), secret)
}

fn write<K: Kv>(shared: &Shared<K>, mut asks: Vec<Ask>) -> Result<(), OpenError> {
    let mut answers = Vec::with_capacity(asks.len());
    for ask in &mut asks {
        let (answer, answered) = oneshot::channel();
        ask.answer = Some(answer);
        answers.push(answered);
    }
    shared.finish_group(shared.write_group(asks));
    for mut answer in answers {
        match answer.try_recv() {
            Ok(Ok(_)) => {}
            Ok(Err(Refused::Broken(broken))) => return Err(broken.into()),
            _ => return Err(OpenError("the backup holds a task or a replay key twice".into())),
        }
    }
    Ok(())
}

/// The disk of a store that is there, and its format.
fn existing(data_dir: &Path) -> Result<(SledDisk, u32), OpenError> {
    let dir = place(data_dir);
    if !dir.join("db").exists() {
        return Err(OpenError(format!(
            "{}: there is no task store; name its data directory with --data",
            dir.display()
        )));
    }
    let disk = open_disk(&dir, Settings::default().page_cache_bytes, |file: File| file)?;
    match read_format(&disk)? {
        Some(format) => Ok((disk, format)),
        None => Err(OpenError(format!("{}: the store is empty", dir.display()))),
    }
}

/// sled may panic where a page is damaged; that is an answer, not an end.
fn guarded<T>(data_dir: &Path, work: impl FnOnce() -> Result<T, OpenError>) -> Result<T, OpenError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let text = "the store is damaged where it was read; move it away and restore a backup with `weft store restore`";
        Err(OpenError(format!("{}: {text}", place(data_dir).display())))
    })
}

fn each_head<K: Kv>(
    kv: &K,
    running: bool,
    visit: &mut dyn FnMut(&Head) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let kind = if running { layout::RUNNING } else { layout::SETTLED };
    let mut failed = None;
    kv.scan(&[kind], &[kind + 1], &mut |_, bytes| {
        let head = layout::decode(bytes, "a head")?;
        failed = visit(&head).err();
        Ok(failed.is_none())
    })?;
    failed.map_or(Ok(()), Err)
}

fn each_record<K: Kv>(
    kv: &K,
    task: TaskId,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let prefix = layout::records(task);
    let mut joiner = Joiner::default();
    kv.scan(&prefix, &layout::after(&prefix), &mut |key, part| joiner.take(key, part).map(|()| true))?;
    joiner.finish()?;
    joiner.records.iter().try_for_each(|record| visit(&record.encode_to_vec()))
}

fn each_push<K: Kv>(
    kv: &K,
    task: TaskId,
    visit: &mut dyn FnMut(&Push, &Delivery) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let prefix = layout::pushes(layout::PUSHES, task);
    let mut pushes: Vec<Push> = Vec::new();
    kv.scan(&prefix, &layout::after(&prefix), &mut |_, bytes| {
        pushes.push(layout::decode(bytes, "a webhook")?);
        Ok(true)
    })?;
    for push in pushes {
        let bytes = kv.get(&layout::push(layout::DELIVERIES, task, &push.id))?;
        let bytes = bytes.ok_or_else(|| layout::damaged("a webhook"))?;
        visit(&push, &layout::decode(bytes.as_slice(), "a delivery")?)?;
    }
    Ok(())
}
