//! The backup file: framed, counted, checksummed.
//!
//! ```text
//! "weft tasks\n"  version u32  epoch u32          all numbers big-endian
//! ( 'H' length u32 head | 'R' length u32 record | 'P' length u32 webhook | 'D' length u32 how far it is )*   protobuf
//! ( 'S' length u32 session | 'V' length u32 conversation )*                                                 protobuf
//! ( 'F' length u32 owner that is being forgotten )*                                                             text
//! 'E' tasks u64  SHA-256 of everything before these 32 bytes
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use prost::Message;
use sha2::{Digest, Sha256};

use super::{Besides, OpenError};
use crate::record::{Delivery, Head, Push, Record};
use crate::store::layout;

const MAGIC: &[u8; 11] = b"weft tasks\n";
/// 1 had no webhooks, 2 nothing besides tasks; both read as they are.
const VERSION: u32 = 3;
/// A record cannot be larger than a task.
const FRAME_BYTES_MAX: u32 = 64 * 1024 * 1024;

/// One frame.
enum Entry {
    Head(Box<Head>),
    Record(Box<Record>),
    Push(Push),
    Delivery(Delivery),
    Besides(Besides),
    End { tasks: u64 },
}

/// A task with all it has.
pub(super) struct Task {
    pub(super) head: Head,
    pub(super) records: Vec<Record>,
    pub(super) pushes: Vec<(Push, Delivery)>,
}

/// Writes beside the target and takes its name at the end.
pub(super) struct Writer {
    out: BufWriter<File>,
    sum: Sha256,
    target: PathBuf,
    partial: PathBuf,
    done: bool,
}

fn failed(path: &Path, doing: &str, error: &std::io::Error) -> OpenError {
    OpenError(format!("{}: cannot {doing} the backup: {error}", path.display()))
}

impl Writer {
    pub(super) fn create(target: &Path, epoch: u32) -> Result<Writer, OpenError> {
        if target.exists() {
            return Err(OpenError(format!("{}: exists already; choose another name", target.display())));
        }
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = target.with_file_name(name);
        let out = File::create(&partial).map_err(|error| failed(&partial, "write", &error))?;
        let (out, sum, target) = (BufWriter::new(out), Sha256::new(), target.to_path_buf());
        let mut writer = Writer { out, sum, target, partial, done: false };
        writer.put(MAGIC)?;
        writer.put(&VERSION.to_be_bytes())?;
        writer.put(&epoch.to_be_bytes())?;
        Ok(writer)
    }

    pub(super) fn head(&mut self, head: &Head) -> Result<(), OpenError> {
        self.frame(b'H', &head.encode_to_vec())
    }

    pub(super) fn record(&mut self, bytes: &[u8]) -> Result<(), OpenError> {
        self.frame(b'R', bytes)
    }

    pub(super) fn push(&mut self, push: &Push, delivery: &Delivery) -> Result<(), OpenError> {
        self.frame(b'P', &push.encode_to_vec())?;
        self.frame(b'D', &delivery.encode_to_vec())
    }

    pub(super) fn besides(&mut self, besides: &Besides) -> Result<(), OpenError> {
        match besides {
            Besides::Session(session) => self.frame(b'S', &session.encode_to_vec()),
            Besides::Conversation(conversation) => self.frame(b'V', &conversation.encode_to_vec()),
            Besides::Forgetting(base) => self.frame(b'F', base.as_bytes()),
        }
    }

    pub(super) fn finish(mut self, tasks: u64) -> Result<(), OpenError> {
        self.put(b"E")?;
        self.put(&tasks.to_be_bytes())?;
        let sum = self.sum.clone().finalize();
        let written = self
            .out
            .write_all(&sum)
            .and_then(|()| self.out.flush())
            .and_then(|()| self.out.get_ref().sync_all())
            .and_then(|()| std::fs::rename(&self.partial, &self.target));
        written.map_err(|error| failed(&self.target, "write", &error))?;
        self.done = true;
        Ok(())
    }

    fn frame(&mut self, tag: u8, bytes: &[u8]) -> Result<(), OpenError> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.put(&[tag])?;
        self.put(&length.to_be_bytes())?;
        self.put(bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), OpenError> {
        self.sum.update(bytes);
        self.out.write_all(bytes).map_err(|error| failed(&self.partial, "write", &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.done {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// Reads what [`Writer`] wrote.
pub(super) struct Reader {
    from: BufReader<File>,
    sum: Sha256,
    path: PathBuf,
    epoch: u32,
    /// The head whose records come next.
    pending: Option<Head>,
    besides: Vec<Besides>,
    tasks: u64,
    ended: bool,
}

impl Reader {
    /// Reads the whole file once.
    pub(super) fn verify(path: &Path) -> Result<(), OpenError> {
        let mut reader = Reader::open(path)?;
        while reader.task()?.is_some() {}
        Ok(())
    }

    pub(super) fn open(path: &Path) -> Result<Reader, OpenError> {
        let file = File::open(path).map_err(|error| failed(path, "read", &error))?;
        let (from, path) = (BufReader::new(file), path.to_path_buf());
        let (sum, besides) = (Sha256::new(), Vec::new());
        let mut reader = Reader { from, sum, path, epoch: 0, pending: None, besides, tasks: 0, ended: false };
        if reader.take::<11>()? != *MAGIC {
            return Err(reader.bad("is no backup of a task store"));
        }
        let version = u32::from_be_bytes(reader.take()?);
        if !(1..=VERSION).contains(&version) {
            let text = format!(
                "has version {version}, this program reads version {VERSION}; use the one that wrote it"
            );
            return Err(reader.bad(&text));
        }
        reader.epoch = u32::from_be_bytes(reader.take()?);
        Ok(reader)
    }

    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What the file holds besides tasks; known after the last task.
    pub(super) fn besides(&self) -> &[Besides] {
        &self.besides
    }

    /// The next task; `None` after the last, when the checksum holds.
    pub(super) fn task(&mut self) -> Result<Option<Task>, OpenError> {
        if self.ended {
            return Ok(None);
        }
        let begun = |head| Task { head, records: Vec::new(), pushes: Vec::new() };
        let mut task = self.pending.take().map(begun);
        loop {
            let entry = self.entry()?;
            match (entry, &mut task) {
                (Entry::Head(next), task) => {
                    self.tasks += 1;
                    match task.take() {
                        None => *task = Some(begun(*next)),
                        Some(whole) => {
                            self.pending = Some(*next);
                            return Ok(Some(whole));
                        }
                    }
                }
                (Entry::End { tasks }, task) => {
                    let whole = task.take();
                    self.end(tasks)?;
                    return Ok(whole);
                }
                (Entry::Besides(besides), _) => self.besides.push(besides),
                (Entry::Record(record), Some(task)) => task.records.push(*record),
                (Entry::Push(push), Some(task)) => task.pushes.push((push, Delivery::default())),
                (Entry::Delivery(delivery), Some(Task { pushes, .. })) if !pushes.is_empty() => {
                    if let Some((_, of_the_last)) = pushes.last_mut() {
                        *of_the_last = delivery;
                    }
                }
                _ => return Err(self.bad("is damaged: an entry without a task")),
            }
        }
    }

    fn end(&mut self, tasks: u64) -> Result<(), OpenError> {
        self.ended = true;
        let expected = self.sum.clone().finalize();
        let sum: [u8; 32] = self.take()?;
        let mut more = [0; 1];
        let over = self.from.read(&mut more).is_ok_and(|read| read == 0);
        if tasks != self.tasks || sum != expected[..] || !over {
            return Err(self.bad("is damaged: its checksum does not fit"));
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<Entry, OpenError> {
        match self.take::<1>()?[0] {
            b'H' => Ok(Entry::Head(Box::new(layout::decode(self.frame()?.as_slice(), "the backup")?))),
            b'R' => Ok(Entry::Record(Box::new(layout::decode(self.frame()?.as_slice(), "the backup")?))),
            b'P' => Ok(Entry::Push(layout::decode(self.frame()?.as_slice(), "the backup")?)),
            b'D' => Ok(Entry::Delivery(layout::decode(self.frame()?.as_slice(), "the backup")?)),
            b'S' => {
                let session = layout::decode(self.frame()?.as_slice(), "the backup")?;
                Ok(Entry::Besides(Besides::Session(session)))
            }
            b'V' => {
                let conversation = layout::decode(self.frame()?.as_slice(), "the backup")?;
                Ok(Entry::Besides(Besides::Conversation(conversation)))
            }
            b'F' => match String::from_utf8(self.frame()?) {
                Ok(base) => Ok(Entry::Besides(Besides::Forgetting(base))),
                Err(_) => Err(self.bad("is damaged: an owner is no text")),
            },
            b'E' => Ok(Entry::End { tasks: u64::from_be_bytes(self.take()?) }),
            _ => Err(self.bad("is damaged: an unknown entry")),
        }
    }

    fn frame(&mut self) -> Result<Vec<u8>, OpenError> {
        let length = u32::from_be_bytes(self.take()?);
        if length > FRAME_BYTES_MAX {
            return Err(self.bad("is damaged: an entry is too long"));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], OpenError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), OpenError> {
        if self.from.read_exact(bytes).is_err() {
            return Err(self.bad("is cut short"));
        }
        self.sum.update(bytes);
        Ok(())
    }

    fn bad(&self, what: &str) -> OpenError {
        OpenError(format!("{}: the file {what}", self.path.display()))
    }
}
