//! Where in a document a fault is: a chain of steps on the stack, printed only when something is wrong.

use std::fmt;

use weft_core::Fault;

/// A place, as `message.parts[0].kind`.
pub(crate) struct At<'a> {
    before: Option<&'a At<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    /// Names the whole document; not part of a longer path.
    Root(&'a str),
    Field(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    pub(crate) fn root(name: &'a str) -> At<'a> {
        At { before: None, step: Step::Root(name) }
    }

    pub(crate) fn field<'b>(&'b self, name: &'b str) -> At<'b> {
        At { before: Some(self), step: Step::Field(name) }
    }

    pub(crate) fn index(&self, index: usize) -> At<'_> {
        At { before: Some(self), step: Step::Index(index) }
    }

    /// `Invalid` on this place.
    pub(crate) fn fault(&self, description: impl Into<String>) -> Fault {
        Fault::invalid(self.to_string(), description)
    }

    fn is_root(&self) -> bool {
        self.before.is_none()
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.before.filter(|before| !before.is_root());
        if let Some(before) = inside {
            write!(f, "{before}")?;
        }
        match self.step {
            Step::Root(name) => f.write_str(name),
            Step::Field(name) if inside.is_none() => f.write_str(name),
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// What a caller wrote, short enough for a message.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("\"{shown}{more}\"")
}
