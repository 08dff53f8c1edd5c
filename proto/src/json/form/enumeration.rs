//! Enums: names, and numbers that have none.

use std::{fmt, marker::PhantomData};

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

use super::Form;
use crate::json::Names;

/// In, a name or any number; out, the name, or the number if it has none. Unknown names are refused.
pub(crate) struct Enumeration<E>(PhantomData<E>);

impl<E: Names> Form for Enumeration<E> {
    type Rust = i32;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<i32, D::Error> {
        reader.deserialize_any(Enumeration::<E>(PhantomData))
    }

    fn write<S: Serializer>(value: &i32, writer: S) -> Result<S::Ok, S::Error> {
        match E::name(*value) {
            Some(name) => writer.serialize_str(name),
            None => writer.serialize_i32(*value),
        }
    }

    fn is_default(value: &i32) -> bool {
        *value == 0
    }
}

impl<N: Names> Visitor<'_> for Enumeration<N> {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match N::name(0) {
            Some(name) => write!(f, "a name like {name}, or its number"),
            None => f.write_str("a name or its number"),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<i32, E> {
        N::number(name).ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i32, E> {
        i32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}
