//! JSON values in JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::{Kind, ListValue, Struct, Value};
use crate::json::{MAX_JSON_DEPTH, number, read};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            None | Some(Kind::Null(_)) => writer.serialize_unit(),
            Some(Kind::Number(number)) => serialize_number(*number, writer),
            Some(Kind::String(text)) => writer.serialize_str(text),
            Some(Kind::Bool(flag)) => writer.serialize_bool(*flag),
            Some(Kind::Struct(object)) => object.serialize(writer),
            Some(Kind::List(list)) => list.serialize(writer),
        }
    }
}

fn serialize_number<S: Serializer>(number: f64, writer: S) -> Result<S::Ok, S::Error> {
    match number::integer(number) {
        Some(integer) => writer.serialize_i64(integer),
        None if number.is_finite() => writer.serialize_f64(number),
        None => Err(ser::Error::custom("is not a finite number")),
    }
}

impl Serialize for Struct {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_map(&self.fields)
    }
}

impl Serialize for ListValue {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_seq(&self.values)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Value, D::Error> {
        Level { left: MAX_JSON_DEPTH }.deserialize(reader)
    }
}

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Struct, D::Error> {
        reader.deserialize_map(Object(Level { left: MAX_JSON_DEPTH }))
    }
}

impl<'de> Deserialize<'de> for ListValue {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<ListValue, D::Error> {
        reader.deserialize_seq(Array(Level { left: MAX_JSON_DEPTH }))
    }
}

/// Reads a value that may nest `left` deep.
#[derive(Clone, Copy)]
struct Level {
    left: usize,
}

impl Level {
    fn enter<E: Error>(self) -> Result<Level, E> {
        let left = self.left.checked_sub(1);
        let left =
            left.ok_or_else(|| E::custom(format_args!("is nested more than {MAX_JSON_DEPTH} deep")))?;
        Ok(Level { left })
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut seq: A) -> Result<ListValue, A::Error> {
        let inside = self.enter()?;
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(inside)? {
            values.push(value);
        }
        Ok(ListValue { values })
    }

    fn object<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Struct, A::Error> {
        let inside = self.enter()?;
        let mut fields = BTreeMap::new();
        while let Some(name) = read::key(&mut map)? {
            read::once(&name, fields.contains_key(&name))?;
            let value = map.next_value_seed(inside)?;
            fields.insert(name, value);
        }
        Ok(Struct { fields })
    }
}

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Kind::Null(0).into())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Kind::Bool(flag).into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        whole(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        whole(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        if !number.is_finite() {
            return Err(E::invalid_value(Unexpected::Float(number), &"a finite number"));
        }
        Ok(Kind::Number(number).into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Kind::String(text).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        Ok(Kind::List(self.array(seq)?).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        Ok(Kind::Struct(self.object(map)?).into())
    }
}

fn whole<E: Error>(number: i128) -> Result<Value, E> {
    let double = number::whole(number).ok_or_else(|| E::custom(number::INEXACT))?;
    Ok(Kind::Number(double).into())
}

struct Object(Level);

impl<'de> Visitor<'de> for Object {
    type Value = Struct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Struct, A::Error> {
        self.0.object(map)
    }
}

struct Array(Level);

impl<'de> Visitor<'de> for Array {
    type Value = ListValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ListValue, A::Error> {
        self.0.array(seq)
    }
}
