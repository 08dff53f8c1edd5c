//! The file of the profiles: `$WEFT_PROFILES`, else `weft/profiles.toml` below `$XDG_CONFIG_HOME` or `~/.config`.
//!
//! It holds no secrets: it says where they lie. One that stands in it is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::secret::{Kind, Reference};

/// Keys under which people write secrets into files.
const LITERAL: [&str; 8] =
    ["token", "bearer", "bearer_token", "api_key", "apikey", "password", "secret", "authorization"];

/// Everything in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiles {
    #[serde(skip)]
    place: PathBuf,
    /// The one that counts when a command names none.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub(crate) in_use: Option<String>,
    /// By name.
    #[serde(default)]
    pub(crate) profile: BTreeMap<String, Profile>,
}

/// How one mesh is reached.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ca: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_env: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_secret: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_env: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_secret: Option<String>,
}

/// Where the file lies.
pub(crate) fn place() -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = variable("WEFT_PROFILES") {
        return Ok(file);
    }
    let config = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    let config =
        config.ok_or("nobody says where profiles lie: set HOME, XDG_CONFIG_HOME or WEFT_PROFILES")?;
    Ok(config.join("weft/profiles.toml"))
}

/// A name is a part of file names.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    if (1..=64).contains(&name.len()) && name.bytes().all(plain) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    Err(format!("`{name}` names no profile: a name has 1 to 64 letters, digits, `-`, `_` or `.`"))
}

// === impl Profiles ===

impl Profiles {
    /// Nothing when there is no file.
    ///
    /// # Errors
    /// Says what is wrong with the file and the remedy, never a value that could be a secret.
    pub(crate) fn load(place: &Path) -> Result<Profiles, String> {
        let shown = place.display();
        let text = match std::fs::read_to_string(place) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{shown}: cannot be read: {error}")),
        };
        // The parser's own display shows the line, in which a secret may stand.
        let table: Table =
            text.parse().map_err(|e: toml::de::Error| format!("{shown}: not valid TOML: {}", e.message()))?;
        literal(&table).map_or(Ok(()), |(path, name)| {
            Err(format!(
                "{shown}: `{path}` is a secret in plain text: take it out (and have it replaced: it was readable), \
                 then run `weft profile add {name} --url URL --token-stdin`, or name it by token_file or token_env"
            ))
        })?;
        let profiles: Profiles =
            table.try_into().map_err(|e: toml::de::Error| format!("{shown}: {}", e.message()))?;
        for (name, profile) in &profiles.profile {
            check_name(name).and_then(|()| profile.check(name)).map_err(|e| format!("{shown}: {e}"))?;
        }
        Ok(Profiles { place: place.to_owned(), ..profiles })
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn save(&self) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|e| format!("the profiles cannot be written: {e}"))?;
        super::secret::write(&self.place, text.as_bytes())
    }

    /// One of them.
    pub(crate) fn get(&self, name: &str) -> Result<&Profile, String> {
        self.profile.get(name).ok_or_else(|| {
            let known: Vec<_> = self.profile.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
            format!(
                "no profile is called `{name}` in {}: {known}; see `weft profile add`",
                self.place.display()
            )
        })
    }
}

// === impl Profile ===

impl Profile {
    /// Where the secret of a kind lies.
    pub(crate) fn reference(&self, kind: Kind) -> Option<Reference<'_>> {
        let (file, env, secret) = match kind {
            Kind::Token => (&self.token_file, &self.token_env, &self.token_secret),
            Kind::ApiKey => (&self.api_key_file, &self.api_key_env, &self.api_key_secret),
        };
        let file = file.as_deref().map(Reference::File);
        file.or(env.as_deref().map(Reference::Env)).or(secret.as_deref().map(Reference::Kept))
    }

    /// # Errors
    /// Names the key and the remedy.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        let uri: http::Uri = self.url.parse().map_err(|_| bad_url(name))?;
        let web = matches!(uri.scheme_str(), Some("http" | "https"));
        if !web || uri.host().is_none_or(str::is_empty) || self.url.contains(['@', '?', '#']) {
            return Err(bad_url(name));
        }
        if self.cert.is_some() != self.key.is_some() {
            return Err(format!("profile.{name} has one of cert and key: set both or none"));
        }
        let token = [self.token_file.is_some(), self.token_env.is_some(), self.token_secret.is_some()];
        let api_key =
            [self.api_key_file.is_some(), self.api_key_env.is_some(), self.api_key_secret.is_some()];
        for (key, given) in [("token", token), ("api_key", api_key)] {
            if given.iter().filter(|given| **given).count() > 1 {
                return Err(format!("profile.{name}: keep one of {key}_file, {key}_env and {key}_secret"));
            }
        }
        for kept in [&self.token_secret, &self.api_key_secret].into_iter().flatten() {
            check_name(kept)?;
        }
        Ok(())
    }
}

/// Said without the value: it may hold a password.
fn bad_url(name: &str) -> String {
    format!(
        "profile.{name}.url must be like https://mesh.example or https://mesh.example/prefix, without user, password \
         or query"
    )
}

/// A secret that stands in the file: its path, and the profile it belongs to.
fn literal(table: &Table) -> Option<(String, String)> {
    let secret =
        |table: &Table| table.keys().find(|key| LITERAL.contains(&key.to_lowercase().as_str())).cloned();
    if let Some(key) = secret(table) {
        return Some((key, "NAME".to_owned()));
    }
    let Some(Value::Table(profiles)) = table.get("profile") else { return None };
    profiles.iter().find_map(|(name, profile)| {
        let key = secret(profile.as_table()?)?;
        Some((format!("profile.{name}.{key}"), name.clone()))
    })
}
