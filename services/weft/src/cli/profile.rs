//! `weft profile add|list|use|show|rm`: meshes that are elsewhere, and how this machine proves itself to them.

pub(super) mod file;
pub(super) mod secret;

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Failure;
use super::out::Out;
use file::{Profile, Profiles};
use secret::{Kind, Secrets};

/// Most bytes of a secret that are read.
const SECRET_BYTES_MAX: u64 = 64 * 1024;

/// Commands over profiles.
#[derive(Debug, Subcommand)]
pub(super) enum ProfileCommand {
    /// Keep how a mesh is reached, in place of what is kept under the name
    Add(Box<Add>),
    /// The profiles; the one in use has a star
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Use this profile when a command names none
    Use {
        /// Its name
        name: String,
    },
    /// One profile; secrets are never shown
    Show {
        /// Its name
        name: String,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Forget a profile, and the secrets that are kept for it
    Rm {
        /// Its name
        name: String,
    },
}

/// What is kept of a mesh.
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Name: letters, digits, `-`, `_` and `.`
    name: String,
    /// Base URL of the mesh
    #[arg(long)]
    url: String,
    /// PEM file of the authority behind the mesh's certificate, besides those of this machine
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// PEM file of a certificate that shows who calls
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// PEM file of the key that belongs to it
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// File that holds the token
    #[arg(long, value_name = "FILE", group = "token")]
    token_file: Option<PathBuf>,
    /// Variable that holds the token
    #[arg(long, value_name = "NAME", group = "token")]
    token_env: Option<String>,
    /// Read the token from standard input and keep it in a file that only you can read
    #[arg(long, group = "token")]
    token_stdin: bool,
    /// File that holds the API key
    #[arg(long, value_name = "FILE", group = "api_key")]
    api_key_file: Option<PathBuf>,
    /// Variable that holds the API key
    #[arg(long, value_name = "NAME", group = "api_key")]
    api_key_env: Option<String>,
    /// Read the API key from standard input and keep it in a file that only you can read
    #[arg(long, group = "api_key", conflicts_with = "token_stdin")]
    api_key_stdin: bool,
    /// Use it from now on when a command names none
    #[arg(long = "use")]
    in_use: bool,
}

/// `weft profile …`.
pub(super) fn profile(command: ProfileCommand) -> Result<(), Failure> {
    let place = file::place().map_err(Failure::Usage)?;
    let mut profiles = Profiles::load(&place).map_err(Failure::Usage)?;
    let secrets = Secrets::beside(&place);
    match command {
        ProfileCommand::Add(add) => self::add(*add, &mut profiles, &secrets).map_err(Failure::Usage)?,
        ProfileCommand::List { json } => list(&profiles, json),
        ProfileCommand::Use { name } => {
            profiles.get(&name).map_err(Failure::Usage)?;
            profiles.in_use = Some(name);
            profiles.save().map_err(Failure::Usage)?;
        }
        ProfileCommand::Show { name, json } => {
            show(profiles.get(&name).map_err(Failure::Usage)?, &secrets, json)?;
        }
        ProfileCommand::Rm { name } => {
            profiles.get(&name).map_err(Failure::Usage)?;
            profiles.profile.remove(&name);
            profiles.in_use.take_if(|in_use| *in_use == name);
            profiles.save().map_err(Failure::Usage)?;
            for kind in Kind::BOTH {
                secrets.forget(&name, kind).map_err(Failure::Usage)?;
            }
        }
    }
    Ok(())
}

fn add(add: Add, profiles: &mut Profiles, secrets: &Secrets) -> Result<(), String> {
    file::check_name(&add.name)?;
    let name = add.name;
    let kept = |stdin: bool| stdin.then(|| name.clone());
    let profile = Profile {
        url: add.url,
        ca: absolute(add.ca.as_deref())?,
        cert: absolute(add.cert.as_deref())?,
        key: absolute(add.key.as_deref())?,
        token_file: absolute(add.token_file.as_deref())?,
        token_env: add.token_env,
        token_secret: kept(add.token_stdin),
        api_key_file: absolute(add.api_key_file.as_deref())?,
        api_key_env: add.api_key_env,
        api_key_secret: kept(add.api_key_stdin),
    };
    profile.check(&name)?;
    // The secret first: a profile must not name one that is not there.
    for (kind, stdin) in [(Kind::Token, add.token_stdin), (Kind::ApiKey, add.api_key_stdin)] {
        if stdin {
            secrets.keep(&name, kind, &from_stdin()?)?;
        } else {
            secrets.forget(&name, kind)?;
        }
    }
    profiles.profile.insert(name.clone(), profile);
    let first = profiles.in_use.is_none();
    if add.in_use || first {
        profiles.in_use = Some(name.clone());
    }
    profiles.save()?;
    if first && !add.in_use {
        Out::new(false).note(&format!("{name} is used from now on: it is the first; see `weft profile use`"));
    }
    Ok(())
}

fn absolute(path: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let made = |path| std::path::absolute(path).map_err(|e| format!("{}: {e}", Path::display(path)));
    path.map(made).transpose()
}

fn from_stdin() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .take(SECRET_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|e| format!("standard input cannot be read: {e}"))?;
    Ok(text)
}

fn list(profiles: &Profiles, json: bool) {
    let out = Out::new(json);
    let in_use = |name: &str| profiles.in_use.as_deref() == Some(name);
    if json {
        let rows: Vec<_> = profiles
            .profile
            .iter()
            .map(|(name, profile)| serde_json::json!({ "name": name, "url": profile.url, "use": in_use(name) }))
            .collect();
        return out.line(&serde_json::Value::Array(rows).to_string());
    }
    for (name, profile) in &profiles.profile {
        out.line(&format!("{} {name}  {}", if in_use(name) { '*' } else { ' ' }, profile.url));
    }
}

fn show(profile: &Profile, secrets: &Secrets, json: bool) -> Result<(), Failure> {
    let out = Out::new(json);
    let unprintable = |e: &dyn std::fmt::Display| Failure::Usage(format!("the profile cannot be shown: {e}"));
    if json {
        out.line(&serde_json::to_string(profile).map_err(|e| unprintable(&e))?);
        return Ok(());
    }
    out.line(toml::to_string(profile).map_err(|e| unprintable(&e))?.trim_end());
    for kind in Kind::BOTH {
        if let Some(Err(problem)) = profile.reference(kind).map(|reference| reference.read(kind, secrets)) {
            out.note(&format!("not there: {problem}"));
        }
    }
    Ok(())
}
