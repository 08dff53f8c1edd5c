//! Numbers that stay what they are: what a double cannot hold is answered as text.

use weft_proto::wkt::{Kind, Value};

/// Greatest whole number up to which a double holds every one.
const WHOLE_MAX: u64 = 1 << 53;
/// Decimal digits that every double keeps.
const DIGITS_KEPT: usize = 15;

/// A whole number.
pub(crate) fn whole(n: i64) -> Value {
    if n.unsigned_abs() > WHOLE_MAX {
        return text(n.to_string());
    }
    // Exact: the guard above leaves what a double holds.
    #[allow(clippy::cast_precision_loss)]
    number(n as f64)
}

/// A counter.
pub(crate) fn count(n: u64) -> Value {
    i64::try_from(n).map_or_else(|_| text(n.to_string()), whole)
}

/// A double as it is; what has no JSON form is answered as text.
pub(crate) fn double(n: f64) -> Value {
    if n.is_finite() { number(n) } else { text(n.to_string()) }
}

/// Written digits; nothing when `written` is no decimal number.
pub(crate) fn decimal(written: &str) -> Option<Value> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    if !written.chars().all(plain) || !written.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let n: f64 = written.parse().ok()?;
    let mantissa = written.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = digits.trim_start_matches('0').trim_end_matches('0').len();
    // Up to 15 digits always survive; a few more may, but only whole numbers are worth the question.
    let whole = || written.parse::<i64>().is_ok_and(|n| n.unsigned_abs() <= WHOLE_MAX);
    let kept = n.is_finite() && (significant <= DIGITS_KEPT || whole());
    Some(if kept { number(n) } else { text(written) })
}

pub(crate) fn text(text: impl Into<String>) -> Value {
    Value { kind: Some(Kind::String(text.into())) }
}

pub(crate) fn flag(flag: bool) -> Value {
    Value { kind: Some(Kind::Bool(flag)) }
}

pub(crate) fn null() -> Value {
    Value { kind: Some(Kind::Null(0)) }
}

fn number(n: f64) -> Value {
    Value { kind: Some(Kind::Number(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_exactly_or_answered_as_its_own_text() {
        for kept in ["0", "-1", "12.5", "1e3", "9007199254740992", "0.000001", "123456789.123456"] {
            assert_eq!(decimal(kept), Some(number(kept.parse().unwrap())), "{kept}");
        }
        for text_of in ["9007199254740993", "0.12345678901234567", "1e999"] {
            assert_eq!(decimal(text_of), Some(text(text_of)), "{text_of}");
        }
        for not in ["", "abc", "NaN", "inf", "1,5", "--1", "."] {
            assert_eq!(decimal(not), None, "{not}");
        }
        assert_eq!(whole(i64::MAX), text("9223372036854775807"));
        assert_eq!(count(u64::MAX), text("18446744073709551615"));
        assert_eq!(double(f64::INFINITY), text("inf"));
    }
}
