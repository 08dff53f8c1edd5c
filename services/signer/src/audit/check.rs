//! Whether the record is as it was written.

use std::fmt;
use std::fs;
use std::path::Path;

use super::folder::{self, failed};
use super::line;

/// Most problems that are told.
const PROBLEMS_MAX: usize = 20;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Lines read.
    pub lines: u64,
    /// First and last number; nothing in an empty record.
    pub numbers: Option<(u64, u64)>,
    /// Digest of the last line, hexadecimal: to be kept elsewhere, and compared with.
    pub digest: String,
    /// What does not fit: file, line and why; at most 20.
    pub problems: Vec<String>,
}

/// Reads the whole record under `data`. Blocks.
///
/// # Errors
/// When a file cannot be read.
pub fn check(data: &Path) -> Result<Checked, String> {
    let dir = folder::of(data);
    let mut checked =
        Checked { lines: 0, numbers: None, digest: line::hex(&line::BEGIN), problems: Vec::new() };
    let mut expected: Option<u64> = None;
    for first in folder::files(&dir)? {
        let path = folder::file(&dir, first);
        let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if expected.is_some_and(|expected| expected != first) {
            checked.problem(format!("{shown}: lines between it and the file before it are missing"));
        }
        let content = fs::read(&path).map_err(|error| failed(&path, &error))?;
        let mut number = first;
        for (at, text) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let place = || format!("{shown} line {}", at + 1);
            let Some(text) = text.strip_suffix(b"\n") else {
                checked.problem(format!("{}: is not whole (written when the mesh was killed?)", place()));
                continue;
            };
            match line::read(text) {
                None => checked.problem(format!("{}: is no event", place())),
                Some((event, _)) if event.number != number => {
                    checked.problem(format!("{}: has the number {}, not {number}", place(), event.number));
                }
                // What the oldest line follows has been let go, unless it is the first of all.
                Some((_, follows)) => {
                    let known = checked.numbers.is_some() || number == 1;
                    if known && follows != checked.digest {
                        checked.problem(format!("{}: does not follow from the line before it", place()));
                    }
                }
            }
            let begin = checked.numbers.map_or(number, |(begin, _)| begin);
            checked.numbers = Some((begin, number));
            checked.digest = line::hex(&line::digest(text));
            checked.lines += 1;
            number += 1;
        }
        expected = Some(number);
    }
    Ok(checked)
}

// === impl Checked ===

impl Checked {
    fn problem(&mut self, text: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(text);
        }
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbers {
            None => f.write_str("the record is empty")?,
            Some((first, last)) => {
                write!(f, "{} events, {first} to {last}, sha256:{}", self.lines, self.digest)?
            }
        }
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}
