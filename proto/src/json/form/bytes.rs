//! Bytes: base64.

use std::fmt;

use base64::Engine;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

use super::Form;

/// Base64: in, either alphabet, padded or not; out, the standard alphabet, padded.
pub(crate) struct Bytes;

const fn engine(alphabet: &Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

const ENGINE: GeneralPurpose = engine(&STANDARD);
const ENGINE_URL_SAFE: GeneralPurpose = engine(&URL_SAFE);

impl Form for Bytes {
    type Rust = Vec<u8>;

    fn read<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<u8>, D::Error> {
        reader.deserialize_str(Base64)
    }

    fn write<S: Serializer>(value: &Vec<u8>, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_str(&ENGINE.encode(value))
    }

    fn is_default(value: &Vec<u8>) -> bool {
        value.is_empty()
    }
}

struct Base64;

impl Visitor<'_> for Base64 {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a base64 string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        let engine = if text.contains(['-', '_']) { &ENGINE_URL_SAFE } else { &ENGINE };
        engine.decode(text).map_err(|error| E::custom(format_args!("is not base64: {error}")))
    }
}
