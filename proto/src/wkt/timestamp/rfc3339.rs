//! The text form of a time. The calendar is jiff's; the form is narrower than jiff's, and exact.

use std::fmt;

use jiff::civil::{Date, date};

use super::{Timestamp, TimestampError};

const SECONDS_A_DAY: i64 = 86_400;
const EPOCH: Date = date(1970, 1, 1);

/// `YYYY-MM-DDThh:mm:ss`.
const CIVIL_LENGTH: usize = 19;

/// `time` must have passed [`Timestamp::check`].
pub(super) fn write(time: &Timestamp, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let second_of_day = time.seconds.rem_euclid(SECONDS_A_DAY);
    let days = jiff::Span::new().try_days(time.seconds.div_euclid(SECONDS_A_DAY));
    let date = days.and_then(|days| EPOCH.checked_add(days)).map_err(|_| fmt::Error)?;
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let (year, month, day) = (date.year(), date.month(), date.day());
    let millis = time.nanos / 1_000_000;
    write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

pub(super) fn parse(text: &str) -> Result<Timestamp, TimestampError> {
    let (civil, rest) = text.split_at_checked(CIVIL_LENGTH).ok_or(TimestampError::Form)?;
    let seconds = civil_seconds(civil.as_bytes())?;
    let (nanos, offset) = fraction(rest)?;
    Ok(Timestamp { seconds: seconds - offset_seconds(offset.as_bytes())?, nanos })
}

fn civil_seconds(text: &[u8]) -> Result<i64, TimestampError> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return Err(TimestampError::Form);
    }
    let year = digits(&text[0..4])?;
    let (month, day) = (digits(&text[5..7])?, digits(&text[8..10])?);
    let (hour, minute, second) = (digits(&text[11..13])?, digits(&text[14..16])?, digits(&text[17..19])?);
    // At most 9999 and 99.
    let date = Date::new(year as i16, month as i8, day as i8).map_err(|_| TimestampError::Value)?;
    // A leap second has no protobuf form.
    if hour > 23 || minute > 59 || second > 59 {
        return Err(TimestampError::Value);
    }
    let days = EPOCH.until(date).map_err(|_| TimestampError::Value)?.get_days();
    Ok(i64::from(days) * SECONDS_A_DAY + i64::from(hour * 3600 + minute * 60 + second))
}

/// The nanoseconds of `.123` at the front of `text`, if there, and what follows.
fn fraction(text: &str) -> Result<(i32, &str), TimestampError> {
    let Some(text) = text.strip_prefix('.') else { return Ok((0, text)) };
    let length = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    if !(1..=9).contains(&length) {
        return Err(TimestampError::Form);
    }
    let (fraction, rest) = text.split_at(length);
    Ok((digits(fraction.as_bytes())? * 10_i32.pow(9 - length as u32), rest))
}

/// Seconds of `Z` or `+hh:mm`.
fn offset_seconds(text: &[u8]) -> Result<i64, TimestampError> {
    let (sign, hour, minute) = match text {
        b"Z" => return Ok(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => (*sign, digits(&[*h1, *h2])?, digits(&[*m1, *m2])?),
        _ => return Err(TimestampError::Form),
    };
    if hour > 23 || minute > 59 {
        return Err(TimestampError::Value);
    }
    let seconds = i64::from(hour * 3600 + minute * 60);
    Ok(if sign == b'-' { -seconds } else { seconds })
}

/// The number that up to nine digits make.
fn digits(text: &[u8]) -> Result<i32, TimestampError> {
    text.iter().try_fold(0, |number, digit| match digit {
        b'0'..=b'9' => Ok(number * 10 + i32::from(digit - b'0')),
        _ => Err(TimestampError::Form),
    })
}
