//! The access file as it is written: TOML read into plain values, secrets in the clear refused.
//!
//! No error repeats a value, so that a secret that was written here by mistake does not travel on into a log.

use serde::Deserialize;
use toml::{Table, Value};

/// Largest file, in bytes.
pub(crate) const BYTES_MAX: u64 = 1024 * 1024;
/// Keys under which people write secrets.
const LITERALS: [&str; 8] =
    ["token", "tokens", "secret", "password", "key", "bearer_token", "api_token", "client_secret"];
/// How a kept digest begins.
const DIGEST: &str = "sha256:";

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    pub(super) principal: Vec<Principal>,
    pub(super) provider: Vec<Provider>,
    pub(super) anonymous: Anonymous,
    pub(super) clients: Clients,
}

/// `[[principal]]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Principal {
    pub(super) name: String,
    pub(super) bearer: Vec<String>,
    pub(super) api_key: Vec<String>,
    pub(super) bearer_secret: Option<String>,
    pub(super) certificate: Vec<String>,
    pub(super) seal: Vec<String>,
    pub(super) peer: bool,
    pub(super) scopes: Option<Vec<String>>,
    pub(super) capabilities: Option<Vec<String>>,
    pub(super) allowance: Option<Allowance>,
}

/// `[[provider]]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) jwks: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) scopes_claim: Option<String>,
    pub(super) algorithms: Option<Vec<String>>,
    pub(super) capabilities: Option<Vec<String>>,
    pub(super) allowance: Option<Allowance>,
}

/// `[anonymous]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Anonymous {
    pub(super) capabilities: Vec<String>,
    pub(super) allowance: Option<Allowance>,
}

/// `[clients]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Clients {
    pub(super) ca: Option<String>,
}

/// `[principal.allowance]` and its like.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Allowance {
    pub(super) messages_per_minute: Option<u32>,
    pub(super) streams_max: Option<u32>,
    pub(super) tasks_max: Option<u64>,
    pub(super) bytes_max: Option<u64>,
    pub(super) context_turns_max: Option<u32>,
}

impl File {
    /// # Errors
    /// Names the place and the remedy, never a value.
    pub(super) fn parse(text: &str) -> Result<File, String> {
        let table: Table = text.parse().map_err(|e| described(&e, text))?;
        refuse_literals(&table)?;
        let value = toml::from_str::<File>(text);
        value.map_err(|e| described(&e, text))
    }

    /// Names that `bearer_secret` gives.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.principal.iter().filter_map(|principal| principal.bearer_secret.as_deref())
    }
}

/// The digest of `sha256:…`.
///
/// # Errors
/// Says what it must be, not what it is.
pub(super) fn digest(text: &str) -> Result<[u8; 32], String> {
    let hex = text.strip_prefix(DIGEST).filter(|hex| hex.len() == 64);
    let byte = |at: usize| hex.and_then(|hex| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok());
    let mut bytes = [0; 32];
    for (at, to) in bytes.iter_mut().enumerate() {
        *to = byte(at * 2).ok_or("must be \"sha256:\" and 64 hexadecimal digits")?;
    }
    Ok(bytes)
}

/// A TOML mistake with its line and without the text that stands there.
fn described(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
    let message = error.message().lines().next().unwrap_or("not valid TOML");
    // Messages about a wrong type quote the value between these words.
    let message = match (message.find("invalid type: "), message.rfind(", expected ")) {
        (Some(0), Some(at)) => format!("of the wrong type{}", &message[at..]),
        _ => message.to_owned(),
    };
    line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"))
}

fn refuse_literals(table: &Table) -> Result<(), String> {
    for (section, value) in table {
        let Value::Array(entries) = value else { continue };
        for (at, entry) in entries.iter().enumerate() {
            let Value::Table(entry) = entry else { continue };
            for (key, value) in entry {
                let place = format!("{section}[{at}].{key}");
                if LITERALS.contains(&key.as_str()) {
                    return Err(literal(&place));
                }
                if ["bearer", "api_key"].contains(&key.as_str()) {
                    digests(&place, value)?;
                }
            }
        }
    }
    Ok(())
}

fn digests(place: &str, value: &Value) -> Result<(), String> {
    let Value::Array(items) = value else { return Err(literal(place)) };
    let good = |item: &Value| item.as_str().is_some_and(|text| digest(text).is_ok());
    match items.iter().position(|item| !good(item)) {
        Some(at) => Err(literal(&format!("{place}[{at}]"))),
        None => Ok(()),
    }
}

fn literal(place: &str) -> String {
    format!(
        "{place}: secrets do not stand here in the clear: make a token with `weft access add NAME`, which keeps only \
         its digest, or put the secret into the store with `weft secrets set NAME` and write bearer_secret = \"NAME\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_the_clear_is_refused_and_not_repeated() {
        let check = |entry: &str, place: &str| {
            let text = format!("[[principal]]\nname = \"ci\"\n{entry}\n");
            let problem = File::parse(&text).unwrap_err();
            assert!(problem.contains(place) && problem.contains("weft secrets set"), "{problem}");
            assert!(!problem.contains("hunter2"), "{problem}");
        };
        check("token = \"hunter2\"", "principal[0].token");
        check("password = \"hunter2\"", "principal[0].password");
        check("bearer = \"hunter2\"", "principal[0].bearer");
        check("bearer = [\"hunter2\"]", "principal[0].bearer[0]");
        check("api_key = [\"sha256:hunter2\"]", "principal[0].api_key[0]");
        check("bearer = [7]", "principal[0].bearer[0]");
    }

    #[test]
    fn mistakes_name_their_line_and_no_value() {
        let problem = File::parse("[[principal]]\nname = 7331\n").unwrap_err();
        assert!(problem.contains("line 2") && !problem.contains("7331"), "{problem}");
        let problem = File::parse("[[principal]]\nnames = \"ci\"\n").unwrap_err();
        assert!(problem.contains("names"), "{problem}");
        assert!(File::parse("x = \"hunter2").unwrap_err().contains("line 1"));
    }

    #[test]
    fn a_digest_is_64_hexadecimal_digits() {
        assert_eq!(digest(&format!("sha256:{}", "0f".repeat(32))), Ok([15; 32]));
        for bad in ["", "sha256:", &"0f".repeat(32), &format!("sha256:{}", "0g".repeat(32)), "sha256:éé"] {
            assert!(digest(bad).is_err(), "{bad}");
        }
    }
}
