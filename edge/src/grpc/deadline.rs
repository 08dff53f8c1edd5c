//! `grpc-timeout`: how long a caller waits.

use std::time::Duration;

use http::HeaderMap;

/// The bound that a caller sets; none when it sets none, or says it in a way that is not gRPC's.
pub(super) fn of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(amount * 3_600),
        "M" => Duration::from_secs(amount * 60),
        "S" => Duration::from_secs(amount),
        "m" => Duration::from_millis(amount),
        "u" => Duration::from_micros(amount),
        "n" => Duration::from_nanos(amount),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_a_number_of_up_to_eight_digits_and_a_unit() {
        let read = |text: &'static str| {
            of(&HeaderMap::from_iter([(
                http::HeaderName::from_static("grpc-timeout"),
                text.parse().unwrap(),
            )]))
        };
        assert_eq!(read("100m"), Some(Duration::from_millis(100)));
        assert_eq!(read("2H"), Some(Duration::from_secs(7_200)));
        assert_eq!(read("99999999S"), Some(Duration::from_secs(99_999_999)));
        for bad in ["", "m", "100", "100x", "-1m", "1.5S", "999999999S"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        assert_eq!(of(&HeaderMap::new()), None);
    }
}
