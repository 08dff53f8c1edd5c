//! Reads one TOML table key by key and notes every problem with its path; a key nobody asked for is a problem too.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use toml::{Table, Value};

use super::Problem;

/// One table of a file that is being read.
pub(super) struct Reader<'a> {
    file: &'a str,
    path: String,
    table: &'a Table,
    known: RefCell<Vec<&'static str>>,
    problems: &'a RefCell<Vec<Problem>>,
}

impl<'a> Reader<'a> {
    /// The whole file.
    pub(super) fn root(file: &'a str, table: &'a Table, problems: &'a RefCell<Vec<Problem>>) -> Reader<'a> {
        Reader { file, path: String::new(), table, known: RefCell::default(), problems }
    }

    /// Notes a problem with a key of this table.
    pub(super) fn wrong(&self, key: &str, value: impl std::fmt::Display, remedy: impl Into<String>) {
        self.problems.borrow_mut().push(Problem::new(self.file, &self.at(key), value, remedy));
    }

    /// True when the key is there.
    pub(super) fn has(&self, key: &'static str) -> bool {
        self.table.contains_key(key)
    }

    /// The raw value of a key.
    pub(super) fn value(&self, key: &'static str) -> Option<&'a Value> {
        self.known.borrow_mut().push(key);
        self.table.get(key)
    }

    /// One line of text of at most `chars_max` characters; empty when the key is absent.
    pub(super) fn text(&self, key: &'static str, chars_max: usize) -> String {
        match self.value(key) {
            None => String::new(),
            Some(Value::String(text)) => {
                self.check_line(key, text, chars_max);
                text.clone()
            }
            Some(other) => {
                self.wrong(key, other, "must be a text in quotes");
                String::new()
            }
        }
    }

    /// As [`Reader::text`], but it must be there and not empty; `what` says what belongs there.
    pub(super) fn required(&self, key: &'static str, chars_max: usize, what: &str) -> String {
        let text = self.text(key, chars_max);
        if !self.has(key) {
            self.wrong(key, "", what);
        } else if text.is_empty() && matches!(self.table.get(key), Some(Value::String(_))) {
            self.wrong(key, "\"\"", what);
        }
        text
    }

    /// Text of several lines, for queries and messages.
    pub(super) fn prose(&self, key: &'static str, chars_max: usize) -> Option<String> {
        match self.value(key)? {
            Value::String(text) if text.chars().count() <= chars_max => Some(text.clone()),
            Value::String(text) => {
                let chars = text.chars().count();
                self.wrong(
                    key,
                    format!("{chars} characters long"),
                    format!("must be at most {chars_max} characters"),
                );
                None
            }
            other => {
                self.wrong(key, other, "must be a text in quotes");
                None
            }
        }
    }

    /// Lines of text without doubles, at most `count_max`; empty when the key is absent.
    pub(super) fn texts(&self, key: &'static str, count_max: usize, chars_max: usize) -> Vec<String> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.wrong(key, value, "must be a list of texts, like [\"a\", \"b\"]");
            return Vec::new();
        };
        if items.len() > count_max {
            self.wrong(
                key,
                format!("{} entries long", items.len()),
                format!("must have at most {count_max} entries"),
            );
        }
        let mut texts: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Value::String(text) if text.is_empty() => {
                    self.wrong(key, "\"\"", "must not hold an empty text")
                }
                Value::String(text) if texts.contains(text) => {
                    self.wrong(key, format!("\"{text}\" twice"), "must not hold the same text twice");
                }
                Value::String(text) => {
                    self.check_line(key, text, chars_max);
                    texts.push(text.clone());
                }
                other => self.wrong(key, other, "must be a text in quotes"),
            }
        }
        texts
    }

    /// A whole number within bounds.
    pub(super) fn number(&self, key: &'static str, default: u64, range: RangeInclusive<u64>) -> u64 {
        match self.value(key) {
            None => default,
            Some(Value::Integer(n)) if u64::try_from(*n).is_ok_and(|n| range.contains(&n)) => {
                n.unsigned_abs()
            }
            Some(other) => {
                let (min, max) = range.into_inner();
                self.wrong(key, other, format!("must be a whole number from {min} to {max}"));
                default
            }
        }
    }

    /// `true` or `false`; false when the key is absent.
    pub(super) fn flag(&self, key: &'static str) -> bool {
        match self.value(key) {
            None => false,
            Some(Value::Boolean(flag)) => *flag,
            Some(other) => {
                self.wrong(key, other, "must be true or false, without quotes");
                false
            }
        }
    }

    /// A table within this one.
    pub(super) fn table(&self, key: &'static str) -> Option<Reader<'a>> {
        match self.value(key)? {
            Value::Table(table) => Some(self.inner(self.at(key), table)),
            other => {
                self.wrong(key, other, "must be a table");
                None
            }
        }
    }

    /// An array of tables within this one; each is named in problems by its `name` or `id`, else by its place from 1.
    pub(super) fn tables(&self, key: &'static str, count_max: usize) -> Vec<Reader<'a>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.wrong(key, value, "must be a list of tables");
            return Vec::new();
        };
        if items.len() > count_max {
            self.wrong(
                key,
                format!("{} entries long", items.len()),
                format!("must have at most {count_max} entries"),
            );
        }
        let mut tables = Vec::with_capacity(items.len());
        for (nth, item) in items.iter().enumerate() {
            let Value::Table(table) = item else {
                self.wrong(key, item, "must be a list of tables");
                continue;
            };
            let label = ["id", "name"].iter().find_map(|k| table.get(*k)?.as_str());
            let label = label.map_or_else(|| (nth + 1).to_string(), |l| l.chars().take(64).collect());
            tables.push(self.inner(format!("{}({label})", self.at(key)), table));
        }
        tables
    }

    /// Notes every key that nobody asked for.
    pub(super) fn finish(self) {
        let mut known = self.known.take();
        known.sort_unstable();
        known.dedup();
        for (key, value) in self.table {
            if !known.contains(&key.as_str()) {
                self.wrong(key, value, format!("not a known key; known here: {}", known.join(", ")));
            }
        }
    }

    fn inner(&self, path: String, table: &'a Table) -> Reader<'a> {
        Reader { file: self.file, path, table, known: RefCell::default(), problems: self.problems }
    }

    fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn check_line(&self, key: &str, text: &str, chars_max: usize) {
        let chars = text.chars().count();
        if chars > chars_max {
            self.wrong(
                key,
                format!("{chars} characters long"),
                format!("must be at most {chars_max} characters"),
            );
        }
        if text.chars().any(char::is_control) {
            self.wrong(key, format!("{text:?}"), "must be one line without control characters");
        }
    }
}
