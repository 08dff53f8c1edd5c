//! Strict readers of the three structured fields that the profile uses (RFC 9651 subset, canonical form only).
//!
//! One label, `weft`; one spelling for each value. What a general parser would forgive (spare spaces, escapes,
//! several members, unknown parameters) is refused, so that two readers can never see two things.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::SealFault;
use crate::SealFault::{Malformed, Missing};

/// Most components that one seal may cover.
pub(crate) const COVERED_MAX: usize = 24;
/// Longest `signature-input`, in bytes.
const INPUT_BYTES_MAX: usize = 2048;
/// Longest component name, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Longest key id, in characters.
pub(crate) const KEY_ID_CHARS_MAX: usize = 128;
/// Bounds of a nonce, in characters.
const NONCE_CHARS: std::ops::RangeInclusive<usize> = 16..=64;

/// What `signature-input` says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Input<'a> {
    /// The value of the label as it stands, which is the last line of the signature base.
    pub(crate) params: &'a str,
    pub(crate) covered: Vec<&'a str>,
    pub(crate) created: i64,
    pub(crate) nonce: &'a str,
    pub(crate) key_id: &'a str,
    pub(crate) algorithm: &'a str,
    pub(crate) tag: &'a str,
}

impl<'a> Input<'a> {
    /// Reads a `signature-input` of exactly `weft=("a" "b");created=1;nonce="…";keyid="…";alg="…";tag="…"`,
    /// parameters in any order.
    pub(crate) fn parse(value: &'a str) -> Result<Self, SealFault> {
        if value.len() > INPUT_BYTES_MAX {
            return Err(Malformed("signature-input is too long"));
        }
        let params = value.strip_prefix("weft=").ok_or(Malformed("signature-input has no label weft"))?;
        let mut rest = Cursor(params);
        let covered = rest.components()?;
        let (mut created, mut nonce, mut key_id, mut algorithm, mut tag) = (None, None, None, None, None);
        while !rest.0.is_empty() {
            rest.take(";")?;
            let name = rest.until('=')?;
            let twice = match name {
                "created" => created.replace(rest.integer()?).is_some(),
                "nonce" => nonce.replace(rest.string()?).is_some(),
                "keyid" => key_id.replace(rest.string()?).is_some(),
                "alg" => algorithm.replace(rest.string()?).is_some(),
                "tag" => tag.replace(rest.string()?).is_some(),
                _ => return Err(Malformed("signature-input has an unknown parameter")),
            };
            if twice {
                return Err(Malformed("signature-input has a parameter twice"));
            }
        }
        let nonce = nonce.ok_or(Missing("parameter nonce"))?;
        if !NONCE_CHARS.contains(&nonce.len()) || nonce.contains(' ') {
            return Err(Malformed("nonce is not 16 to 64 characters without spaces"));
        }
        let key_id = key_id.ok_or(Missing("parameter keyid"))?;
        if key_id.is_empty() || key_id.len() > KEY_ID_CHARS_MAX {
            return Err(Malformed("keyid is not 1 to 128 characters"));
        }
        Ok(Self {
            params,
            covered,
            created: created.ok_or(Missing("parameter created"))?,
            nonce,
            key_id,
            algorithm: algorithm.ok_or(Missing("parameter alg"))?,
            tag: tag.ok_or(Missing("parameter tag"))?,
        })
    }
}

/// Reads a `signature` of exactly `weft=:…:`.
pub(crate) fn signature(value: &str) -> Result<Vec<u8>, SealFault> {
    value
        .strip_prefix("weft=:")
        .and_then(|rest| rest.strip_suffix(':'))
        .filter(|base64| base64.len() <= 128)
        .and_then(|base64| STANDARD.decode(base64).ok())
        .ok_or(Malformed("signature is not weft=:base64:"))
}

/// Reads a `content-digest` of exactly `sha-256=:…:` (RFC 9530).
pub(crate) fn digest(value: &str) -> Result<[u8; 32], SealFault> {
    let mut digest = [0; 32];
    let read = value
        .strip_prefix("sha-256=:")
        .and_then(|rest| rest.strip_suffix(':'))
        .filter(|base64| base64.len() == 44)
        .and_then(|base64| STANDARD.decode_slice(base64, &mut digest).ok());
    if read == Some(digest.len()) {
        Ok(digest)
    } else {
        Err(Malformed("content-digest is not sha-256=:base64:"))
    }
}

/// True for a field name as it is written in a seal: a lower-case token of at most 64 bytes.
pub(crate) fn is_field_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.!#$%&'*+^`|~".contains(&b))
}

/// True for text that a seal can carry as it is: printable ASCII, no space at either end.
pub(crate) fn is_plain(value: &str) -> bool {
    value.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) && value.trim_matches(' ').len() == value.len()
}

/// What is left to read.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn take(&mut self, expected: &str) -> Result<(), SealFault> {
        self.0 =
            self.0.strip_prefix(expected).ok_or(Malformed("signature-input is not in canonical form"))?;
        Ok(())
    }

    fn until(&mut self, end: char) -> Result<&'a str, SealFault> {
        let (before, after) = self.0.split_once(end).ok_or(Malformed("signature-input ends too early"))?;
        self.0 = after;
        Ok(before)
    }

    /// A list of quoted names, separated by one space each, in parentheses.
    fn components(&mut self) -> Result<Vec<&'a str>, SealFault> {
        self.take("(")?;
        let mut covered: Vec<&str> = Vec::with_capacity(8);
        while !self.0.starts_with(')') {
            if !covered.is_empty() {
                self.take(" ")?;
            }
            let name = self.string()?;
            if !is_field_name(name) && name != "@method" && name != "@target-uri" {
                return Err(Malformed("signature-input covers a component that the profile does not know"));
            }
            if covered.contains(&name) {
                return Err(Malformed("signature-input covers a component twice"));
            }
            if covered.len() == COVERED_MAX {
                return Err(Malformed("signature-input covers too many components"));
            }
            covered.push(name);
        }
        self.take(")")?;
        Ok(covered)
    }

    /// A quoted string. Nothing that we sign needs an escape, so a backslash is refused.
    fn string(&mut self) -> Result<&'a str, SealFault> {
        self.take("\"")?;
        let text = self.until('"')?;
        if text.contains('\\') || !text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
            return Err(Malformed("signature-input has a string with characters that are not allowed"));
        }
        Ok(text)
    }

    /// A whole number of at most 15 digits, as RFC 9651 §3.3.1 bounds it, without spare zeros or signs.
    fn integer(&mut self) -> Result<i64, SealFault> {
        let text = &self.0[..self.0.find(';').unwrap_or(self.0.len())];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let canonical = text == "0" || !digits.starts_with('0');
        if !canonical || !(1..=15).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Malformed("created is not a whole number of seconds"));
        }
        self.0 = &self.0[text.len()..];
        text.parse().map_err(|_| Malformed("created is not a whole number of seconds"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Input, digest, signature};
    use crate::SealFault;

    const GOOD: &str = "weft=(\"@method\" \"weft-scope\");created=17;nonce=\"0123456789abcdef\";keyid=\"k\"\
                        ;alg=\"ed25519\";tag=\"weft-hop-v1\"";

    #[test]
    fn a_canonical_input_is_read_whatever_the_order_of_its_parameters() {
        let input = Input::parse(GOOD).unwrap();
        assert_eq!(input.covered, ["@method", "weft-scope"]);
        assert_eq!((input.created, input.nonce, input.key_id), (17, "0123456789abcdef", "k"));
        assert_eq!(input.params, &GOOD[5..]);
        let other = "weft=();tag=\"t\";alg=\"a\";keyid=\"k\";created=-3;nonce=\"0123456789abcdef\"";
        assert_eq!(Input::parse(other).unwrap().created, -3);
    }

    #[test]
    fn anything_but_the_canonical_form_is_refused() {
        let swap = |from: &str, to: &str| {
            let changed = GOOD.replace(from, to);
            assert_ne!(changed, GOOD, "{from} is in the good one");
            let refused = Input::parse(&changed).map(|input| format!("{input:?}"));
            assert!(
                matches!(refused, Err(SealFault::Malformed(_) | SealFault::Missing(_))),
                "{changed}: {refused:?}"
            );
        };
        for created in
            ["", "+5", " 5", "5 ", "05", "-0", "-", "1e30", "1.0", "\"17\"", "9999999999999999", "1_7", "?1"]
        {
            swap("created=17", &format!("created={created}"));
        }
        swap("weft=", "sig1=");
        swap("weft=", "WEFT=");
        swap("weft=", "");
        swap(";alg", "; alg");
        swap(" \"weft-scope\"", "  \"weft-scope\"");
        swap(" \"weft-scope\"", ",\"weft-scope\"");
        swap("\"weft-scope\"", "\"weft-scope\";sf");
        swap("\"weft-scope\"", "\"Weft-Scope\"");
        swap("\"weft-scope\"", "\"@path\"");
        swap("\"weft-scope\"", "\"@method\"");
        swap("\"weft-scope\"", "\"@signature-params\"");
        swap("\"weft-scope\"", "\"\"");
        swap("0123456789abcdef", "0123456789abcde");
        swap("0123456789abcdef", "0123456789 abcdef");
        swap("0123456789abcdef", &"n".repeat(65));
        swap("0123456789abcdef", &"n".repeat(1_000_000));
        swap("0123456789abcdef", "0123456789\\\"abcdef");
        swap("0123456789abcdef", "0123456789\nabcdef");
        swap("keyid=\"k\"", "keyid=\"\"");
        swap("keyid=\"k\"", "keyid=k");
        swap("keyid=\"k\"", &format!("keyid=\"{}\"", "k".repeat(129)));
        swap(";keyid=\"k\"", "");
        swap(";created=17", "");
        swap(";alg=\"ed25519\"", "");
        swap(";tag=\"weft-hop-v1\"", "");
        swap(";tag=\"weft-hop-v1\"", ";tag=\"weft-hop-v1\";tag=\"weft-hop-v1\"");
        swap(";tag=\"weft-hop-v1\"", ";tag=\"weft-hop-v1\";expires=99");
        swap(";tag=\"weft-hop-v1\"", ";tag=\"weft-hop-v1\", other=()");
        swap(";tag=\"weft-hop-v1\"", ";tag=\"weft-hop-v1");
        let many: String = (0..25).map(|n| format!("\"h{n}\" ")).collect();
        swap("\"@method\" ", &many);
    }

    #[test]
    fn digests_and_signatures_have_one_spelling() {
        let good = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";
        assert_eq!(digest(good).unwrap()[..2], [0xe3, 0xb0]);
        for bad in [
            &good.replace("sha-256", "sha-512"),
            &good.replace("U=:", "V=:"), // spare bits set
            &good.replace("=:47", "=47"),
            &good.replace('+', "-"),
            &format!("{good}, {good}"),
            "sha-256=::",
            "",
        ] {
            assert!(digest(bad).is_err(), "{bad}");
        }
        assert_eq!(signature("weft=:AAE=:"), Ok(vec![0, 1]));
        for bad in ["weft=:AAE:", "weft=AAE=", "sig=:AAE=:", "weft=:AAE=:, x=:AAE=:", "weft=: AAE=:"] {
            assert!(signature(bad).is_err(), "{bad}");
        }
    }
}
