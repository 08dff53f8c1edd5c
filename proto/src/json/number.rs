//! Which numbers a double keeps.

/// Said of a number that a double would change.
pub(crate) const INEXACT: &str = "is a number that a double cannot hold exactly; send it as a string";

/// Every whole number up to here is a double.
const WHOLE_MAX: u64 = 1 << 53;

/// True when the double nearest to `number` (a JSON number) prints with the same value again.
pub(crate) fn is_exact(number: &str) -> bool {
    match number.parse::<f64>() {
        Ok(double) if double.is_finite() => decimal(number) == decimal(&printed(double)),
        _ => false,
    }
}

/// As it is written. Two shortest texts can name one double (`….2` and `….3` beside `….25`), and writers choose
/// differently: only the one that would leave again may come in.
fn printed(double: f64) -> String {
    match integer(double) {
        Some(whole) => whole.to_string(),
        None => serde_json::to_string(&double).unwrap_or_default(),
    }
}

/// The double for a whole number, if it keeps it.
pub(crate) fn whole(number: i128) -> Option<f64> {
    let double = number as f64;
    (number.unsigned_abs() <= u128::from(WHOLE_MAX) || is_exact(&number.to_string())).then_some(double)
}

/// The integer to print for a double: of whole numbers that fit an `i64`.
pub(crate) fn integer(double: f64) -> Option<i64> {
    match double {
        _ if double.fract() != 0.0 => None,
        small if small.abs() <= WHOLE_MAX as f64 => Some(small as i64),
        // A cast would bring out digits beyond those that tell this double from its neighbours.
        large => large.to_string().parse().ok(),
    }
}

/// `digits` × 10^`exponent` without zeros at either end, so that equal values are equal; the sign is left out.
fn decimal(number: &str) -> (String, i64) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let saturated = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    let mut exponent = exponent.parse().unwrap_or(saturated);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_end_matches('0');
    let zeros = (digits.len() - significant.len()) as i64;
    exponent = i64::saturating_add(exponent, zeros - fraction.len() as i64);
    match significant.trim_start_matches('0') {
        "" => (String::new(), 0),
        significant => (significant.to_owned(), exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_come_back_the_same_are_exact() {
        let kept = [
            "0",
            "-0",
            "0.0",
            "0e999999999999999999999",
            "1",
            "-1",
            "0.1",
            "1.5",
            "1e20",
            "1E+2",
            "100e-2",
            "1.0",
            "9007199254740992",
            "-9007199254740992",
            "9007199254740994",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "5e-324",
            "123456789.12345678e0",
            "1234567890123456800",
            "1482439481460259.2",
        ];
        for number in kept {
            assert!(is_exact(number), "{number}");
        }
    }

    #[test]
    fn numbers_that_would_come_back_changed_are_not_exact() {
        let changed = [
            "9007199254740993",
            "-9007199254740993",
            "1e400",
            "-1e400",
            "1e-400",
            "123456789012345678901",
            "0.10000000000000000001",
            "3.14159265358979323846",
            "1e99999999999999999999",
            "18446744073709551615",
            "1482439481460259.3",
            "",
            "-",
        ];
        for number in changed {
            assert!(!is_exact(number), "{number}");
        }
    }

    #[test]
    fn whole_numbers_print_as_integers_in_the_digits_they_came_in() {
        for whole in [0, 1, -1, 9_007_199_254_740_992, -9_007_199_254_740_994, 1_234_567_890_123_456_800] {
            let double = super::whole(i128::from(whole)).expect("a double holds it");
            assert_eq!(integer(double), Some(whole));
        }
        assert_eq!(integer(-0.0), Some(0));
        for other in [0.5, 1e19, -1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(integer(other), None, "{other}");
        }
        assert_eq!(whole(9_007_199_254_740_993), None);
    }
}
