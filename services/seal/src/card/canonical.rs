//! The canonical form of a card: RFC 8785 over what is left when signatures and empty values are gone.

use serde_json::{Map, Number, Value};

use super::CardFault;

/// Deepest nesting of a card, the card itself being 1.
const DEPTH_MAX: usize = 128;
/// Greatest whole number up to which every one is a JSON number of its own.
const WHOLE_MAX: u64 = (1 << 53) - 1;

/// The bytes that a card's signatures cover. `card` is the ProtoJSON form of the message (defaults left out, fields that
/// the schema does not know absent); its `signatures` do not count.
///
/// Empty texts, lists, objects and nulls are left out at every level, required fields too: the official SDKs do so.
/// A card whose required fields are all filled has the same form by the letter of A2A v1.0 §8.4.1.
///
/// # Errors
/// [`CardFault::Canonical`] for what is no object, nests deeper than 128 or holds a number that no double keeps.
pub fn canonical(card: &Value) -> Result<Vec<u8>, CardFault> {
    let Value::Object(fields) = card else { return Err(CardFault::Canonical("not an object")) };
    let fields = fields.iter().filter(|(name, _)| name.as_str() != "signatures");
    let mut out = Vec::with_capacity(4_096);
    match object(fields, 1)? {
        Some(pruned) => write(&Value::Object(pruned), &mut out)?,
        None => out.extend_from_slice(b"{}"),
    }
    Ok(out)
}

/// What is left of a value; `None` when nothing is.
fn prune(value: &Value, depth: usize) -> Result<Option<Value>, CardFault> {
    Ok(match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            check(depth)?;
            let mut kept = Vec::with_capacity(items.len());
            for item in items {
                kept.extend(prune(item, depth + 1)?);
            }
            Some(kept).filter(|kept| !kept.is_empty()).map(Value::Array)
        }
        Value::Object(fields) => object(fields.iter(), depth)?.map(Value::Object),
        other => Some(other.clone()),
    })
}

fn object<'v>(
    fields: impl Iterator<Item = (&'v String, &'v Value)>,
    depth: usize,
) -> Result<Option<Map<String, Value>>, CardFault> {
    check(depth)?;
    let mut kept = Map::new();
    for (name, value) in fields {
        if let Some(value) = prune(value, depth + 1)? {
            kept.insert(name.clone(), value);
        }
    }
    Ok(Some(kept).filter(|kept| !kept.is_empty()))
}

fn check(depth: usize) -> Result<(), CardFault> {
    if depth > DEPTH_MAX { Err(CardFault::Canonical("nests too deep")) } else { Ok(()) }
}

/// RFC 8785 §3.2. The depth was checked when empty values were left out.
fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), CardFault> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Number(number) => out.extend_from_slice(numeral(number)?.as_bytes()),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (nth, item) in items.iter().enumerate() {
                if nth > 0 {
                    out.push(b',');
                }
                write(item, out)?;
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            // By UTF-16 code units, which differ from code points beyond the basic plane.
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push(b'{');
            for (nth, (name, value)) in sorted.into_iter().enumerate() {
                if nth > 0 {
                    out.push(b',');
                }
                string(name, out);
                out.push(b':');
                write(value, out)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// Escapes what must be escaped, the short way where there is one, and nothing else.
fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a text has a JSON form, and a vector takes all of it");
}

/// ECMAScript's `Number::toString` (ECMA-262 §6.1.6.1.20), by which RFC 8785 writes numbers.
fn numeral(number: &Number) -> Result<String, CardFault> {
    let whole = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
    if whole.is_some_and(|whole| whole > WHOLE_MAX) {
        return Err(CardFault::Canonical("a whole number is too large for a double"));
    }
    let double = number.as_f64().filter(|double| double.is_finite());
    let double = double.ok_or(CardFault::Canonical("a number is no double"))?;
    if double == 0.0 {
        return Ok("0".to_owned());
    }
    let sign = if double < 0.0 { "-" } else { "" };
    let (digits, point) = shortest(double.abs());
    let count = i32::try_from(digits.len()).expect("a double has at most 17 digits");
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    let body = if (count..=21).contains(&point) {
        format!("{digits}{}", zeros(point - count))
    } else if (1..count).contains(&point) {
        let (before, after) = digits.split_at(usize::try_from(point).unwrap_or_default());
        format!("{before}.{after}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{:+}", point - 1)
    };
    Ok(format!("{sign}{body}"))
}

/// The shortest digits that give the number back, the nearest of them, of two equally near ones the even; and how many
/// of them stand before the decimal point. (`format!("{:e}")` takes the greater of two equally near ones.)
fn shortest(double: f64) -> (String, i32) {
    let text = serde_json::to_string(&double).expect("a finite number has a JSON form");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let leading = all.len() - digits.len();
    let point = exponent.parse::<i32>().expect("the exponent is a number")
        + i32::try_from(whole.len()).expect("a double has few digits")
        - i32::try_from(leading).expect("a double has few digits");
    (digits.trim_end_matches('0').to_owned(), point)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(card: &Value) -> String {
        String::from_utf8(canonical(card).unwrap()).unwrap()
    }

    #[test]
    fn what_is_empty_and_the_signatures_are_left_out_and_the_rest_is_sorted() {
        let card = json!({
            "name": "Example Agent", "description": "", "skills": [], "signatures": [{"protected": "x"}],
            "capabilities": {"streaming": false, "pushNotifications": false, "extensions": []},
            "nested": {"a": {"b": [{}, "", null, []]}}, "kept": [0, false, "x"],
        });
        assert_eq!(
            text(&card),
            r#"{"capabilities":{"pushNotifications":false,"streaming":false},"kept":[0,false,"x"],"name":"Example Agent"}"#
        );
        assert_eq!(text(&json!({"signatures": [1], "a": {}})), "{}");
    }

    #[test]
    fn names_are_sorted_by_utf_16_and_only_what_must_be_is_escaped() {
        // The example of RFC 8785 §3.2.3.
        let card = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control",
            "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let written = text(&card);
        let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"];
        let found: Vec<_> = order.iter().map(|word| written.find(word).unwrap()).collect();
        assert!(found.is_sorted(), "{written}");
        // The example of RFC 8785 §3.2.2.2.
        let escaped = json!({"s": "\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\u{2028}"});
        assert_eq!(text(&escaped), "{\"s\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\u{2028}\"}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_writes_them() {
        // Bits and text from RFC 8785 appendix B.
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let number = Number::from_f64(f64::from_bits(bits)).unwrap();
            assert_eq!(numeral(&number).unwrap(), expected, "{bits:x}");
        }
        assert_eq!(
            text(&json!({"a": -3, "b": 9_007_199_254_740_991_u64})),
            r#"{"a":-3,"b":9007199254740991}"#
        );
        assert!(canonical(&json!({"a": 9_007_199_254_740_993_u64})).is_err());
    }

    #[test]
    fn what_has_no_canonical_form_is_refused_and_nothing_panics() {
        assert!(canonical(&json!([])).is_err());
        let mut deep = json!("x");
        for _ in 0..200 {
            deep = json!([deep]);
        }
        assert_eq!(canonical(&json!({"a": deep})), Err(CardFault::Canonical("nests too deep")));
    }
}
