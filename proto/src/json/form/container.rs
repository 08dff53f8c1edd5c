//! Lists and maps.

use std::collections::BTreeMap;
use std::{fmt, marker::PhantomData};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serializer};

use super::Form;
use crate::json::{read, write::Formed};

/// An array.
pub(crate) struct List<F>(PhantomData<F>);

impl<F: Form> Form for List<F> {
    type Rust = Vec<F::Rust>;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<Self::Rust, D::Error> {
        reader.deserialize_seq(List::<F>(PhantomData))
    }

    fn write<S: Serializer>(value: &Self::Rust, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_seq(value.iter().map(Formed::<F>::new))
    }

    fn is_default(value: &Self::Rust) -> bool {
        value.is_empty()
    }
}

impl<'de, F: Form> Visitor<'de> for List<F> {
    type Value = Vec<F::Rust>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut out = Vec::new();
        while let Some(element) = seq.next_element_seed(read::Element::<F>::new())? {
            out.push(element);
        }
        Ok(out)
    }
}

/// An object whose members are all alike.
pub(crate) struct Table<F>(PhantomData<F>);

impl<F: Form> Form for Table<F> {
    type Rust = BTreeMap<String, F::Rust>;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<Self::Rust, D::Error> {
        reader.deserialize_map(Table::<F>(PhantomData))
    }

    fn write<S: Serializer>(value: &Self::Rust, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_map(value.iter().map(|(name, member)| (name, Formed::<F>::new(member))))
    }

    fn is_default(value: &Self::Rust) -> bool {
        value.is_empty()
    }
}

impl<'de, F: Form> Visitor<'de> for Table<F> {
    type Value = BTreeMap<String, F::Rust>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut out = BTreeMap::new();
        while let Some(name) = read::key(&mut map)? {
            read::once(&name, out.contains_key(&name))?;
            let member = map.next_value_seed(read::Element::<F>::new())?;
            out.insert(name, member);
        }
        Ok(out)
    }
}
