//! How a field goes into a JSON object.

use std::marker::PhantomData;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::form::Form;

/// Writes the field whatever it holds.
pub(crate) fn always<F: Form, S: SerializeMap>(
    key: &'static str,
    value: &F::Rust,
    map: &mut S,
) -> Result<(), S::Error> {
    map.serialize_entry(key, &Formed::<F>::new(value))
}

/// Writes the field unless it holds its default.
pub(crate) fn plain<F: Form, S: SerializeMap>(
    key: &'static str,
    value: &F::Rust,
    map: &mut S,
) -> Result<(), S::Error> {
    if F::is_default(value) { Ok(()) } else { always::<F, S>(key, value, map) }
}

/// Writes the field if it is set.
pub(crate) fn optional<F: Form, S: SerializeMap>(
    key: &'static str,
    value: &Option<F::Rust>,
    map: &mut S,
) -> Result<(), S::Error> {
    value.as_ref().map_or(Ok(()), |value| always::<F, S>(key, value, map))
}

/// A value in its JSON form.
pub(super) struct Formed<'a, F: Form> {
    value: &'a F::Rust,
    form: PhantomData<F>,
}

impl<'a, F: Form> Formed<'a, F> {
    pub(super) fn new(value: &'a F::Rust) -> Formed<'a, F> {
        Formed { value, form: PhantomData }
    }
}

impl<F: Form> Serialize for Formed<'_, F> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        F::write(self.value, writer)
    }
}
