//! The JSON forms a field can have. Each is a type without values that reads and writes the field's Rust type.

mod bytes;
mod container;
mod enumeration;
mod integer;

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

pub(crate) use bytes::Bytes;
pub(crate) use container::{List, Table};
pub(crate) use enumeration::Enumeration;
pub(crate) use integer::Integer;

use super::read::by_serde;

/// How values of one kind look in JSON. Null is not their business: see [`super::read`].
pub(crate) trait Form {
    /// What prost holds.
    type Rust: Default;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<Self::Rust, D::Error>;

    fn write<S: Serializer>(value: &Self::Rust, writer: S) -> Result<S::Ok, S::Error>;

    /// True when a field without presence would be left out.
    fn is_default(value: &Self::Rust) -> bool;
}

/// A string.
pub(crate) struct Text;

impl Form for Text {
    type Rust = String;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
        by_serde(reader)
    }

    fn write<S: Serializer>(value: &String, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_str(value)
    }

    fn is_default(value: &String) -> bool {
        value.is_empty()
    }
}

/// `true` or `false`, nothing else.
pub(crate) struct Flag;

impl Form for Flag {
    type Rust = bool;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<bool, D::Error> {
        by_serde(reader)
    }

    fn write<S: Serializer>(value: &bool, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_bool(*value)
    }

    fn is_default(value: &bool) -> bool {
        !*value
    }
}

/// A message, in whatever form it has itself.
pub(crate) struct Nested<M>(PhantomData<M>);

impl<M: Default + Serialize + DeserializeOwned> Form for Nested<M> {
    type Rust = M;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<M, D::Error> {
        by_serde(reader)
    }

    fn write<S: Serializer>(value: &M, writer: S) -> Result<S::Ok, S::Error> {
        value.serialize(writer)
    }

    fn is_default(_: &M) -> bool {
        // A message has presence: it is written when it is there.
        false
    }
}
