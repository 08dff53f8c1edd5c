//! Which fields marked REQUIRED in the schema a message does not have.

use crate::walk::{At, Visitor, Walk};

/// Presence of REQUIRED fields, here and in every message below.
///
/// Missing is: a message that is absent, a string or list that is empty, an enum that is unspecified. Numbers,
/// booleans and maps are never missing, since their defaults are values. What a present field must look like is not
/// asked here.
pub trait Required {
    /// Adds the JSON path of each missing field, for example `message.parts` or `message.messageId`, in schema order.
    fn missing(&self, out: &mut Vec<String>);
}

impl<T: Walk> Required for T {
    fn missing(&self, out: &mut Vec<String>) {
        self.walk(&At::ROOT, &mut Missing(out));
    }
}

struct Missing<'a>(&'a mut Vec<String>);

impl Visitor for Missing<'_> {
    fn missing(&mut self, at: &At<'_>) {
        self.0.push(at.to_string());
    }
}
