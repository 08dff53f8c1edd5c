//! A point in time.

mod rfc3339;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// Seconds and nanoseconds since 1970-01-01T00:00:00Z, as `google.protobuf.Timestamp`.
///
/// In JSON, and as [`Display`](fmt::Display), RFC 3339 in UTC with exactly three digits of fraction, cut off, not
/// rounded. Read with any offset and up to nine digits. The derived order is the order in time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Message)]
pub struct Timestamp {
    /// Whole seconds, negative before 1970.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// 0 to 999,999,999, counting forward in time also before 1970.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl prost::Name for Timestamp {
    const NAME: &'static str = "Timestamp";
    const PACKAGE: &'static str = "google.protobuf";
}

/// Why something is not a time that has an RFC 3339 form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    /// The text is not of the form.
    #[error("is not an RFC 3339 time like 2026-01-31T12:00:00Z")]
    Form,
    /// The text is of the form, but its date or time of day does not exist.
    #[error("is a date or time of day that does not exist")]
    Value,
    /// Before 0001-01-01T00:00:00Z or after 9999-12-31T23:59:59.999999999Z, or nanoseconds out of range.
    #[error("is a time outside the years 1 to 9999")]
    Range,
}

impl Timestamp {
    /// 0001-01-01T00:00:00Z.
    const SECONDS_MIN: i64 = -62_135_596_800;
    /// 9999-12-31T23:59:59Z.
    const SECONDS_MAX: i64 = 253_402_300_799;

    /// From milliseconds since 1970.
    pub fn from_millis(millis: i64) -> Timestamp {
        // At most 999 million.
        Timestamp { seconds: millis.div_euclid(1000), nanos: millis.rem_euclid(1000) as i32 * 1_000_000 }
    }

    /// Milliseconds since 1970, cut off as in the JSON form; at the ends of `i64` it saturates.
    pub fn as_millis(&self) -> i64 {
        self.seconds.saturating_mul(1000).saturating_add(i64::from(self.nanos.div_euclid(1_000_000)))
    }

    /// Whether it has an RFC 3339 form.
    ///
    /// # Errors
    /// [`TimestampError::Range`].
    pub fn check(&self) -> Result<(), TimestampError> {
        let seconds = Timestamp::SECONDS_MIN..=Timestamp::SECONDS_MAX;
        let fits = seconds.contains(&self.seconds) && (0..1_000_000_000).contains(&self.nanos);
        fits.then_some(()).ok_or(TimestampError::Range)
    }
}

impl fmt::Display for Timestamp {
    /// The JSON form; a time that has none prints its numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.check() {
            Ok(()) => rfc3339::write(self, f),
            Err(_) => write!(f, "{}s {}ns", self.seconds, self.nanos),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Timestamp, TimestampError> {
        let time = rfc3339::parse(text)?;
        time.check()?;
        Ok(time)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        self.check().map_err(ser::Error::custom)?;
        writer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Timestamp, D::Error> {
        reader.deserialize_str(Text)
    }
}

struct Text;

impl de::Visitor<'_> for Text {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an RFC 3339 time in a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests;
