//! One cheap look over a JSON text before it is parsed.

/// What the parser would lose sight of.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Scan {
    /// How deep objects and arrays nest.
    pub(super) depth: usize,
    /// True when a number has an exponent or more digits than any double keeps: it must be looked at closely.
    pub(super) long_number: bool,
}

/// Every number of up to this many digits, without an exponent, survives the way through a double.
const DIGITS_SAFE: usize = 15;

/// Strings of up to this many bytes are searched byte by byte.
const NEAR: usize = 48;

/// Looks at brackets and numbers only; text that is not JSON gives some result, never a panic.
pub(super) fn scan(json: &[u8]) -> Scan {
    let mut scan = Scan::default();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'"' => at = after_string(json, at),
            b'{' | b'[' => {
                depth += 1;
                scan.depth = scan.depth.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'0'..=b'9' => {
                let end = after_number(json, at);
                scan.long_number |= is_long(&json[at - 1..end]);
                at = end;
            }
            _ => {}
        }
    }
    scan
}

/// Index after the closing quote of a string whose first character is at `at`.
pub(super) fn after_string(json: &[u8], mut at: usize) -> usize {
    // Most strings are over before a vectorised search has been set up.
    let near = json.len().min(at + NEAR);
    while at < near {
        match json[at] {
            b'"' => return at + 1,
            // Whatever is escaped does not end the string.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if json[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    json.len()
}

/// Index after a number some character of which is before `at`.
pub(super) fn after_number(json: &[u8], at: usize) -> usize {
    let rest = json.get(at..).unwrap_or_default();
    let length = rest.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    at + length.unwrap_or(rest.len())
}

fn is_long(number: &[u8]) -> bool {
    number.len() > DIGITS_SAFE && number.iter().filter(|b| b.is_ascii_digit()).count() > DIGITS_SAFE
        || number.iter().any(|b| matches!(b, b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_a_double_might_not_keep_are_long() {
        for short in [
            "0",
            "-12.5",
            "123456789012345",
            "0.10000000000000",
            "[1,2,3]",
            r#"{"1e5":"1234567890123456789"}"#,
        ] {
            assert!(!scan(short.as_bytes()).long_number, "{short}");
        }
        for long in
            ["1234567890123456", "0.1234567890123456", "1e5", "-1E5", r#"["\"",1e5]"#, "9007199254740993"]
        {
            assert!(scan(long.as_bytes()).long_number, "{long}");
        }
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(scan(br#"{"a":["[[[[", {"\\":"\"{"}]}"#).depth, 3);
        assert_eq!(scan(b"]]][[").depth, 2);
    }

    #[test]
    fn strings_end_at_their_own_quote_wherever_it_stands() {
        for length in 0..3 * NEAR {
            for inside in ["x", r#"\""#, r"\\", "\u{e9}"] {
                let json = format!(r#""{}{inside}"[["#, "y".repeat(length));
                assert_eq!(after_string(json.as_bytes(), 1), json.len() - 2, "{json}");
                assert_eq!(after_string(&json.as_bytes()[..json.len() - 3], 1), json.len() - 3, "{json}");
            }
        }
    }
}
