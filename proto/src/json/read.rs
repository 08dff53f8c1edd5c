//! How a field takes the next value of a JSON object. Each answers whether the field is now set.

use std::{fmt, marker::PhantomData};

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::form::Form;
use crate::wkt::Value;

/// A field without presence; null is its default.
pub(crate) fn plain<'de, F: Form, A: MapAccess<'de>>(
    field: &mut F::Rust,
    map: &mut A,
) -> Result<bool, A::Error> {
    if let Some(value) = map.next_value_seed(Nullable::<F>(PhantomData))? {
        *field = value;
    }
    Ok(true)
}

/// A field with presence; null leaves it unset.
pub(crate) fn optional<'de, F: Form, A: MapAccess<'de>>(
    field: &mut Option<F::Rust>,
    map: &mut A,
) -> Result<bool, A::Error> {
    *field = map.next_value_seed(Nullable::<F>(PhantomData))?;
    Ok(field.is_some())
}

/// A member of a oneof; null leaves the oneof as it is.
pub(crate) fn member<'de, F: Form, O, A: MapAccess<'de>>(
    oneof: &mut Option<O>,
    variant: impl FnOnce(F::Rust) -> O,
    map: &mut A,
) -> Result<bool, A::Error> {
    match map.next_value_seed(Nullable::<F>(PhantomData))? {
        Some(value) => *oneof = Some(variant(value)),
        None => return Ok(false),
    }
    Ok(true)
}

/// A JSON value, which may be null.
pub(crate) fn json_value<'de, A: MapAccess<'de>>(
    field: &mut Option<Value>,
    map: &mut A,
) -> Result<bool, A::Error> {
    *field = Some(map.next_value()?);
    Ok(true)
}

/// A member of a oneof that is a JSON value, which may be null.
pub(crate) fn json_member<'de, O, A: MapAccess<'de>>(
    oneof: &mut Option<O>,
    variant: impl FnOnce(Value) -> O,
    map: &mut A,
) -> Result<bool, A::Error> {
    *oneof = Some(variant(map.next_value()?));
    Ok(true)
}

/// A field that the schema does not have.
pub(crate) fn unknown<'de, A: MapAccess<'de>>(map: &mut A) -> Result<bool, A::Error> {
    map.next_value::<IgnoredAny>()?;
    Ok(false)
}

/// A value or null.
struct Nullable<F>(PhantomData<F>);

impl<'de, F: Form> DeserializeSeed<'de> for Nullable<F> {
    type Value = Option<F::Rust>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_option(self)
    }
}

impl<'de, F: Form> Visitor<'de> for Nullable<F> {
    type Value = Option<F::Rust>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        F::read(reader).map(Some)
    }
}

/// A value that null cannot stand for: an element of a list or map.
pub(super) struct Element<F>(PhantomData<F>);

impl<F> Element<F> {
    pub(super) const fn new() -> Element<F> {
        Element(PhantomData)
    }
}

impl<'de, F: Form> DeserializeSeed<'de> for Element<F> {
    type Value = F::Rust;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<F::Rust, D::Error> {
        F::read(reader)
    }
}

/// An object key.
pub(crate) fn key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    map.next_key_seed(PhantomData::<String>)
}

/// Refuses a second member of the same name.
pub(crate) fn once<E: Error>(name: &str, earlier: bool) -> Result<(), E> {
    if earlier { Err(E::custom(format_args!("{name:?} is given twice"))) } else { Ok(()) }
}

/// Reads with serde's own rules.
pub(super) fn by_serde<'de, T: Deserialize<'de>, D: Deserializer<'de>>(reader: D) -> Result<T, D::Error> {
    T::deserialize(reader)
}
