//! What a message that came as protobuf may hold and JSON cannot say.

use super::{JsonFault, MAX_JSON_DEPTH};
use crate::walk::{At, Visitor, Walk};
use crate::wkt::{Kind, Struct, Timestamp, Value};

/// Checks that a message can be written as JSON and read back: JSON values no deeper than [`MAX_JSON_DEPTH`], finite
/// numbers, times within the years 1 to 9999. A message that [`decode`](super::decode) gave needs no check.
///
/// # Errors
/// The first thing wrong, with its path.
#[allow(private_bounds, reason = "the build implements it for every message of this crate; nobody else can")]
pub fn check<T: Walk>(message: &T) -> Result<(), JsonFault> {
    let mut first = First(None);
    message.walk(&At::ROOT, &mut first);
    first.0.map_or(Ok(()), Err)
}

/// The first fault of a walk.
struct First(Option<JsonFault>);

impl First {
    fn fault(&mut self, at: &At<'_>, reason: &str) {
        self.0.get_or_insert_with(|| JsonFault::new(at.to_string(), reason));
    }

    fn value(&mut self, at: &At<'_>, value: &Value, depth: usize) {
        match &value.kind {
            Some(Kind::Number(number)) if !number.is_finite() => self.fault(at, "is not a finite number"),
            Some(Kind::Struct(object)) => self.object(at, object, depth),
            Some(Kind::List(list)) if self.is_shallow(at, depth) => {
                for (index, element) in list.values.iter().enumerate() {
                    self.value(&at.index(index), element, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, at: &At<'_>, object: &Struct, depth: usize) {
        if self.is_shallow(at, depth) {
            for (name, member) in &object.fields {
                self.value(&at.field(name), member, depth + 1);
            }
        }
    }

    fn is_shallow(&mut self, at: &At<'_>, depth: usize) -> bool {
        if depth >= MAX_JSON_DEPTH {
            self.fault(at, &too_deep());
        }
        self.0.is_none()
    }
}

impl Visitor for First {
    fn value(&mut self, at: &At<'_>, value: &Value) {
        First::value(self, at, value, 0);
    }

    fn object(&mut self, at: &At<'_>, object: &Struct) {
        First::object(self, at, object, 0);
    }

    fn time(&mut self, at: &At<'_>, time: &Timestamp) {
        if let Err(error) = time.check() {
            self.fault(at, &error.to_string());
        }
    }
}

pub(crate) fn too_deep() -> String {
    format!("is nested more than {MAX_JSON_DEPTH} deep")
}
