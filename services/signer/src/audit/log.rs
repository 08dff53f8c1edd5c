//! Appending to the record: whole lines, on disk before anybody is answered, by one writer at a time.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use weft_proto::weft::AuditEvent;
use weft_proto::wkt::Timestamp;

use super::folder::{self, failed};
use super::{Limits, line};
use crate::private;

/// The end of the record, as this process wrote or found it.
#[derive(Debug)]
struct Tail {
    /// First number of the last file.
    first: u64,
    /// Its length.
    bytes: u64,
    /// Number and digest of the last line.
    number: u64,
    digest: [u8; 32],
}

/// The record, for appending. Several may write beside each other: each waits for the others.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    limits: Limits,
    tail: Option<Tail>,
}

impl Log {
    /// The record under `data`. Nothing is opened yet.
    #[must_use]
    pub fn new(data: &Path, limits: Limits) -> Log {
        Log { dir: folder::of(data), limits, tail: None }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Writes events down, and is back when they are on disk. Blocks.
    ///
    /// # Errors
    /// Names the file. None of the events is in the record then.
    pub fn append(&mut self, events: Vec<AuditEvent>, now: Timestamp) -> Result<(), String> {
        let _held = private::lock(&self.dir)?;
        let mut tail = self.found()?;
        let mut text = String::new();
        let mut next = (tail.number, tail.digest);
        for event in events {
            let line = line::write(event, next.0 + 1, now, &next.1);
            next = (next.0 + 1, line::digest(line.as_bytes()));
            text.push_str(&line);
            text.push('\n');
        }
        let bytes = text.len() as u64;
        if tail.bytes > 0 && tail.bytes + bytes > self.limits.file_bytes_max {
            tail = Tail { first: tail.number + 1, bytes: 0, ..tail };
        }
        self.write(&tail, text.as_bytes())?;
        self.tail =
            Some(Tail { first: tail.first, bytes: tail.bytes + bytes, number: next.0, digest: next.1 });
        self.let_go()
    }

    fn write(&self, tail: &Tail, text: &[u8]) -> Result<(), String> {
        let path = folder::file(&self.dir, tail.first);
        let io = |error: std::io::Error| failed(&path, &error);
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(io)?;
        if let Err(error) = file.write_all(text).and_then(|()| file.sync_data()) {
            // Half a line must not stand before the next one; that it cannot be cut off now either, the next start sees.
            let _ = file.set_len(tail.bytes);
            return Err(io(error));
        }
        if tail.bytes == 0 {
            File::open(&self.dir).and_then(|dir| dir.sync_all()).map_err(io)?;
        }
        Ok(())
    }

    /// The end as it was left, unless somebody else has written since.
    fn found(&mut self) -> Result<Tail, String> {
        let files = folder::files(&self.dir)?;
        let last = files.last().copied();
        if let (Some(tail), Some(last)) = (self.tail.take(), last)
            && tail.first == last
            && fs::metadata(folder::file(&self.dir, last)).is_ok_and(|file| file.len() == tail.bytes)
        {
            return Ok(tail);
        }
        self.read_end(&files)
    }

    fn read_end(&self, files: &[u64]) -> Result<Tail, String> {
        let Some(last) = files.last().copied() else {
            return Ok(Tail { first: 1, bytes: 0, number: 0, digest: line::BEGIN });
        };
        let path = folder::file(&self.dir, last);
        let io = |error: std::io::Error| failed(&path, &error);
        let content = fs::read(&path).map_err(io)?;
        let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < content.len() {
            // Written when the process was killed; nobody was told that it is here.
            tracing::warn!(target: "weft::audit", file = %path.display(), "half a line at the end is taken off");
            let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
            file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(io)?;
        }
        let lines: Vec<&[u8]> = content[..whole].split(|byte| *byte == b'\n').collect();
        // The last of these is what stands behind the last line end: nothing.
        let count = lines.len() as u64 - 1;
        let digest = match lines.iter().rev().nth(1) {
            Some(line) => line::digest(line),
            // Begun and not written: it goes on where the file before it ended.
            None => match files.split_last() {
                Some((_, before)) if !before.is_empty() => self.read_end(before)?.digest,
                _ => line::BEGIN,
            },
        };
        Ok(Tail { first: last, bytes: whole as u64, number: last + count - 1, digest })
    }

    fn let_go(&self) -> Result<(), String> {
        let files = folder::files(&self.dir)?;
        let surplus = files.len().saturating_sub(self.limits.files_max.max(1));
        for first in &files[..surplus] {
            let path = folder::file(&self.dir, *first);
            fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
