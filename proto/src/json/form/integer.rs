//! Integers: numbers without a fraction, or the same in a string.

use std::{any::type_name, fmt, marker::PhantomData};

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

use super::Form;

/// In, `1`, `1.0`, `1e0` or any of them in a string; out, a number up to 32 bits, a string beyond.
pub(crate) struct Integer<I>(PhantomData<I>);

/// What differs between the integer types.
pub(crate) trait Width: Copy + Default + PartialEq + TryFrom<i128> {
    fn write<S: Serializer>(self, writer: S) -> Result<S::Ok, S::Error>;
}

impl Width for i32 {
    fn write<S: Serializer>(self, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_i32(self)
    }
}

impl Width for u32 {
    fn write<S: Serializer>(self, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_u32(self)
    }
}

impl Width for i64 {
    fn write<S: Serializer>(self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_str(&self)
    }
}

impl Width for u64 {
    fn write<S: Serializer>(self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_str(&self)
    }
}

impl<I: Width> Form for Integer<I> {
    type Rust = I;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<I, D::Error> {
        reader.deserialize_any(Integer::<I>(PhantomData))
    }

    fn write<S: Serializer>(value: &I, writer: S) -> Result<S::Ok, S::Error> {
        value.write(writer)
    }

    fn is_default(value: &I) -> bool {
        *value == I::default()
    }
}

impl<I: Width> Visitor<'_> for Integer<I> {
    type Value = I;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an integer that fits {}", type_name::<I>())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<I, E> {
        I::try_from(number.into()).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<I, E> {
        I::try_from(number.into()).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<I, E> {
        // A cast saturates, and what it saturates to fits no integer here.
        let whole = (number.fract() == 0.0).then_some(number as i128);
        let fitting = whole.and_then(|whole| I::try_from(whole).ok());
        fitting.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<I, E> {
        let refused = || E::invalid_value(Unexpected::Str(text), &self);
        // JSON's own grammar for numbers: no plus sign, no leading zero, no white space.
        if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            || !text.ends_with(|c: char| c.is_ascii_digit())
        {
            return Err(refused());
        }
        let number: serde_json::Number = serde_json::from_str(text).map_err(|_| refused())?;
        let integer = number.as_i128().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0).then_some(float as i128)
        });
        integer.and_then(|integer| I::try_from(integer).ok()).ok_or_else(refused)
    }
}
