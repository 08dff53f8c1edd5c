//! Events from a number on, page by page, while others are being written.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use weft_proto::weft::AuditEvent;

use super::folder::{self, failed};
use super::line;

/// Where a reader stands.
#[derive(Debug)]
pub struct Cursor {
    dir: PathBuf,
    /// Events after this one are wanted.
    after: u64,
    /// The file that was read last, by its first number, and how far.
    at: Option<(u64, u64)>,
}

/// Why the record cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The disk says no.
    #[error("{0}")]
    Io(String),
    /// Something that is no line of the record.
    #[error("{}: holds what is no event; weft audit check says where", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

impl Cursor {
    /// Before the first event after that number.
    #[must_use]
    pub fn new(data: &Path, after: u64) -> Cursor {
        Cursor { dir: folder::of(data), after, at: None }
    }

    /// The next events, at most `most`; none when it has read all there are. Goes on with the oldest event that is
    /// still here when those between were let go. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read, or holds what is no event.
    pub fn page(&mut self, most: usize) -> Result<Vec<AuditEvent>, ReadFault> {
        let mut page = Vec::new();
        while page.len() < most {
            let files = folder::files(&self.dir).map_err(ReadFault::Io)?;
            let Some((first, offset)) = self.place(&files) else { break };
            let read = self.read(first, offset, most, &mut page)?;
            self.at = Some((first, read));
            // At the end of a file that is followed by another one, the other one comes next.
            if page.len() < most {
                match files.iter().find(|file| **file > first) {
                    Some(next) => self.at = Some((*next, 0)),
                    None => break,
                }
            }
        }
        Ok(page)
    }

    /// Where to read on: where it stopped, else in the file that holds the next event, else in the oldest.
    fn place(&self, files: &[u64]) -> Option<(u64, u64)> {
        if let Some(at) = self.at.filter(|(first, _)| files.contains(first)) {
            return Some(at);
        }
        let holding = files.iter().rev().find(|first| **first <= self.after.saturating_add(1));
        holding.or(files.first()).map(|first| (*first, 0))
    }

    fn read(
        &mut self,
        first: u64,
        mut offset: u64,
        most: usize,
        page: &mut Vec<AuditEvent>,
    ) -> Result<u64, ReadFault> {
        let path = folder::file(&self.dir, first);
        let io = |error: std::io::Error| ReadFault::Io(failed(&path, &error));
        let mut file = match File::open(&path) {
            // Let go in between: the next look finds the oldest one.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(offset),
            file => file.map_err(io)?,
        };
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        while page.len() < most {
            line.clear();
            let read = lines.read_until(b'\n', &mut line).map_err(io)?;
            // A line without an end is being written.
            let Some(text) = line.strip_suffix(b"\n") else { break };
            offset += read as u64;
            let (event, _) = line::read(text).ok_or_else(|| ReadFault::Damaged { path: path.clone() })?;
            if event.number > self.after {
                self.after = event.number;
                page.push(event);
            }
        }
        Ok(offset)
    }
}
