//! What is wrong in a manifest: which file, which key, its value and what would be right.

use std::fmt;

/// Longest piece of a value that is echoed, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// Path of the key, for example `tool(crm.customers).rows_max`; empty when the whole file is meant.
    pub key: String,
    /// The value as it was found, clipped; empty when the key is missing.
    pub value: String,
    /// What would be right.
    pub remedy: String,
}

/// Everything that is wrong, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(
    /// In the order they were found.
    pub Vec<Problem>,
);

impl Problem {
    /// A problem; `value` is clipped to one short line.
    pub fn new(file: &str, key: &str, value: impl fmt::Display, remedy: impl Into<String>) -> Problem {
        let whole = value.to_string();
        let mut value: String = whole.chars().filter(|c| !c.is_control()).take(VALUE_CHARS_MAX).collect();
        if whole.chars().count() > VALUE_CHARS_MAX {
            value.push('…');
        }
        Problem { file: file.to_owned(), key: key.to_owned(), value, remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { file, key, value, remedy } = self;
        match (key.is_empty(), value.is_empty()) {
            (true, true) => write!(f, "{file}: {remedy}"),
            (true, false) => write!(f, "{file}: {value}: {remedy}"),
            (false, true) => write!(f, "{file}: `{key}` is missing: {remedy}"),
            (false, false) => write!(f, "{file}: `{key}` is {value}: {remedy}"),
        }
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, problem) in self.0.iter().enumerate() {
            let line_break = if nth == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
