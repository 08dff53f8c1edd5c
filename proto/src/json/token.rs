//! Finds a place in a JSON text and says its path; slow, for faults only.

use super::scan::{after_number, after_string};

/// What is looked at.
pub(super) enum Token<'a> {
    Number(&'a str),
    /// An object or array begins, the `depth`-th around this place.
    Open {
        depth: usize,
    },
}

/// One level of the way to the present place.
enum Level<'a> {
    Object { key: &'a [u8], key_next: bool },
    Array { index: usize },
}

/// Path of the first token that `wanted` picks. Text that is not JSON gives some answer, never a panic.
pub(super) fn find(json: &[u8], mut wanted: impl FnMut(Token<'_>) -> bool) -> Option<String> {
    let (mut levels, mut at) = (Vec::new(), 0);
    while let Some(&byte) = json.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                at = after_string(json, at);
                if let Some(Level::Object { key, key_next: key_next @ true }) = levels.last_mut() {
                    *key = &json[start..at];
                    *key_next = false;
                }
            }
            b'{' | b'[' => {
                if wanted(Token::Open { depth: levels.len() + 1 }) {
                    return Some(path(&levels));
                }
                levels.push(match byte {
                    b'{' => Level::Object { key: &[], key_next: true },
                    _ => Level::Array { index: 0 },
                });
            }
            b'}' | b']' => {
                levels.pop();
            }
            b',' => match levels.last_mut() {
                Some(Level::Object { key_next, .. }) => *key_next = true,
                Some(Level::Array { index }) => *index += 1,
                None => {}
            },
            b'-' | b'0'..=b'9' => {
                at = after_number(json, at);
                let digits = std::str::from_utf8(&json[start..at]).unwrap_or_default();
                if wanted(Token::Number(digits)) {
                    return Some(path(&levels));
                }
            }
            _ => {}
        }
    }
    None
}

fn path(levels: &[Level<'_>]) -> String {
    let mut out = String::new();
    for level in levels {
        match level {
            Level::Object { key, .. } => {
                if !out.is_empty() {
                    out.push('.');
                }
                out += &serde_json::from_slice::<String>(key).unwrap_or_default();
            }
            Level::Array { index } => out += &format!("[{index}]"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_number_over_nine(json: &str) -> Option<String> {
        find(json.as_bytes(), |token| matches!(token, Token::Number(digits) if digits.len() > 1))
    }

    #[test]
    fn a_path_names_keys_and_indexes() {
        let json = r#"{"a":{"x":[1,2]},"m":{"parts":[{"n":1},{"t":"10,11","d\u0061ta":{"l":[1,[0,77]]}}]}}"#;
        assert_eq!(first_number_over_nine(json).as_deref(), Some("m.parts[1].data.l[1][1]"));
        assert_eq!(first_number_over_nine("77").as_deref(), Some(""));
        assert_eq!(first_number_over_nine(r#"{"77":7}"#), None);
    }

    #[test]
    fn text_that_is_not_json_does_no_harm() {
        for json in ["", "\"", "\"\\", "{", "}}],,", "[\"a\\\"", "{\"a\"\"b\",77", "-", "\u{fffd}77"] {
            first_number_over_nine(json);
        }
    }
}
