//! What the build writes for every message and enum, and the one reader and writer over it.

use std::{fmt, marker::PhantomData};

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserializer, Serializer, ser::SerializeMap};

/// Number of a field that the schema does not have.
pub(crate) const UNKNOWN: usize = usize::MAX;

/// A message with a JSON form. Fields are numbered from 0 in schema order.
pub(crate) trait Message: Default {
    /// Full name, for faults.
    const NAME: &'static str;
    /// JSON names of the fields.
    const KEYS: &'static [&'static str];
    /// The fields of each oneof, as bits.
    const ONEOFS: &'static [u64];

    /// Number of the field with this JSON or proto name, or [`UNKNOWN`].
    fn field(key: &str) -> usize;

    /// Reads the next value of `map` into a field; false when it was the null that leaves the field unset.
    fn read<'de, A: MapAccess<'de>>(&mut self, field: usize, map: &mut A) -> Result<bool, A::Error>;

    /// Writes the fields that are to be written.
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error>;
}

/// An enum with a JSON form.
pub(crate) trait Names {
    /// The name of a number, if it has one.
    fn name(number: i32) -> Option<&'static str>;
    /// The number of a name, if there is one.
    fn number(name: &str) -> Option<i32>;
}

pub(crate) fn read_message<'de, M: Message, D: Deserializer<'de>>(reader: D) -> Result<M, D::Error> {
    reader.deserialize_map(Reader(PhantomData))
}

pub(crate) fn write_message<M: Message, S: Serializer>(message: &M, writer: S) -> Result<S::Ok, S::Error> {
    let mut map = writer.serialize_map(None)?;
    message.write(&mut map)?;
    map.end()
}

struct Reader<M>(PhantomData<M>);

impl<'de, M: Message> Visitor<'de> for Reader<M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object ({})", M::NAME)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<M, A::Error> {
        let mut message = M::default();
        // Fields that were named, and those of them that were set, as bits.
        let (mut named, mut set) = (0_u64, 0_u64);
        while let Some(field) = map.next_key_seed(Key::<M>(PhantomData))? {
            if field == UNKNOWN {
                message.read(field, &mut map)?;
                continue;
            }
            let bit = 1 << field;
            if named & bit != 0 {
                return Err(A::Error::custom(format_args!("{} is given twice", M::KEYS[field])));
            }
            named |= bit;
            if message.read(field, &mut map)? {
                let others = M::ONEOFS.iter().find(|oneof| **oneof & bit != 0).map_or(0, |oneof| oneof & set);
                if others != 0 {
                    let other = M::KEYS[others.trailing_zeros() as usize];
                    return Err(A::Error::custom(format_args!(
                        "{other} and {} exclude each other",
                        M::KEYS[field]
                    )));
                }
                set |= bit;
            }
        }
        Ok(message)
    }
}

struct Key<M>(PhantomData<M>);

impl<'de, M: Message> DeserializeSeed<'de> for Key<M> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<usize, D::Error> {
        reader.deserialize_identifier(self)
    }
}

impl<M: Message> Visitor<'_> for Key<M> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        Ok(M::field(key))
    }
}

/// serde's traits for a [`Message`].
macro_rules! serde {
    ($message:ty) => {
        impl ::serde::Serialize for $message {
            fn serialize<S: ::serde::Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                $crate::json::write_message(self, writer)
            }
        }
        impl<'de> ::serde::Deserialize<'de> for $message {
            fn deserialize<D: ::serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                $crate::json::read_message(reader)
            }
        }
    };
}
pub(crate) use serde;

/// [`Names`] for a prost enum.
macro_rules! names {
    ($enumeration:ty) => {
        impl $crate::json::Names for $enumeration {
            fn name(number: i32) -> Option<&'static str> {
                <$enumeration>::try_from(number).ok().map(|value| value.as_str_name())
            }
            fn number(name: &str) -> Option<i32> {
                <$enumeration>::from_str_name(name).map(|value| value as i32)
            }
        }
    };
}
pub(crate) use names;
