//! One walk over a message and everything in it; the build writes it for every message from its descriptor.

use std::collections::BTreeMap;
use std::fmt;

use crate::wkt::{Struct, Timestamp, Value};

/// What a walk shows.
pub(crate) trait Visitor {
    /// A REQUIRED field that is absent, empty or unspecified.
    fn missing(&mut self, _at: &At<'_>) {}
    /// A JSON value.
    fn value(&mut self, _at: &At<'_>, _value: &Value) {}
    /// A JSON object.
    fn object(&mut self, _at: &At<'_>, _object: &Struct) {}
    /// A point in time.
    fn time(&mut self, _at: &At<'_>, _time: &Timestamp) {}
}

/// Something that can be walked.
pub(crate) trait Walk {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor);
}

/// Where a walk is, as a chain of steps on the stack: nothing is allocated until the path is printed.
pub(crate) struct At<'a> {
    before: Option<&'a At<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Root,
    Field(&'a str),
    Index(usize),
}

impl At<'_> {
    pub(crate) const ROOT: At<'static> = At { before: None, step: Step::Root };

    /// A field, by its JSON name, or a member of a map or object.
    pub(crate) fn field<'a>(&'a self, name: &'a str) -> At<'a> {
        At { before: Some(self), step: Step::Field(name) }
    }

    /// An element of a list.
    pub(crate) fn index(&self, index: usize) -> At<'_> {
        At { before: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(before) = self.before {
            write!(f, "{before}")?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Field(name) if matches!(self.before, Some(At { step: Step::Root, .. })) => {
                f.write_str(name)
            }
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl<T: Walk> Walk for Option<T> {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        if let Some(inner) = self {
            inner.walk(at, visitor);
        }
    }
}

impl<T: Walk> Walk for Vec<T> {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        for (index, element) in self.iter().enumerate() {
            element.walk(&at.index(index), visitor);
        }
    }
}

impl<T: Walk> Walk for BTreeMap<String, T> {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        for (name, member) in self {
            member.walk(&at.field(name), visitor);
        }
    }
}

impl Walk for Value {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        visitor.value(at, self);
    }
}

impl Walk for Struct {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        visitor.object(at, self);
    }
}

impl Walk for Timestamp {
    fn walk(&self, at: &At<'_>, visitor: &mut dyn Visitor) {
        visitor.time(at, self);
    }
}
