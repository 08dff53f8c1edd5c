//! The access file changed by commands. What people wrote into it, comments too, stays as it is; each change is held
//! against the rules of the file before it is written.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};
use weft_chassis::Env;
use weft_core::Owner;
use zeroize::Zeroizing;

use super::book::sha256;
use super::file::File;
use crate::private;

/// What a token begins with, so that scanners for secrets know it.
const PREFIX: &str = "weft_";
/// What a file begins with that a command makes.
const HEADER: &str =
    "# Who may call this mesh, and how they prove it. Only digests of tokens stand here.\n\n";

/// How a new principal proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `Authorization: Bearer`.
    Bearer,
    /// `X-API-Key`.
    ApiKey,
}

/// A new principal.
#[derive(Debug, Clone)]
pub struct New {
    /// Its name.
    pub name: String,
    /// How it proves who it is.
    pub kind: Kind,
    /// What it may do; empty: reading and writing.
    pub scopes: Vec<String>,
    /// What it may use; empty: everything, or nothing for a peer.
    pub capabilities: Vec<String>,
    /// Another mesh or agent.
    pub peer: bool,
}

/// A principal as it is told to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its ways of proving who it is, for example `bearer` or `bearer x2`.
    pub proofs: Vec<String>,
    /// What it may do, when the file says it.
    pub scopes: Option<Vec<String>>,
    /// What it may use, when the file says it.
    pub capabilities: Option<Vec<String>>,
    /// Another mesh or agent.
    pub peer: bool,
}

/// Why a change cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EditFault {
    /// There is no principal of that name.
    #[error("there is no principal {0} in the access file")]
    Unknown(String),
    /// The name, or something else that was given, does not fit.
    #[error("{0}")]
    Invalid(String),
    /// The file is wrong, or cannot be read or written.
    #[error("{0}")]
    File(String),
}

// === impl Kind ===

impl Kind {
    const fn key(self) -> &'static str {
        match self {
            Kind::Bearer => "bearer",
            Kind::ApiKey => "api_key",
        }
    }
}

/// Adds a principal; its token, which is nowhere else. Blocks.
///
/// # Errors
/// When the name is taken or does not fit, or the file is wrong or cannot be written.
pub fn add(path: &Path, new: &New, env: &Env) -> Result<Zeroizing<String>, EditFault> {
    let invalid =
        |fault: weft_core::Fault| EditFault::Invalid(format!("the name {}", fault.violations[0].description));
    Owner::principal(&new.name).map_err(invalid)?;
    let (token, digest) = token(env);
    change(path, env, |document| {
        let principals = principals(document)?;
        if at(principals, &new.name).is_some() {
            let text = format!(
                "there is a principal {0} already: weft access rotate {0} gives it a new token",
                new.name
            );
            return Err(EditFault::Invalid(text));
        }
        let mut entry = Table::new();
        entry.insert("name", value(&new.name));
        entry.insert(new.kind.key(), list([&digest]));
        if new.peer {
            entry.insert("peer", value(true));
        }
        if !new.scopes.is_empty() {
            entry.insert("scopes", list(&new.scopes));
        }
        if !new.capabilities.is_empty() {
            entry.insert("capabilities", list(&new.capabilities));
        }
        principals.push(entry);
        Ok(())
    })?;
    Ok(token)
}

/// Takes a principal away. Blocks.
///
/// # Errors
/// When there is none of that name, or the file is wrong or cannot be written.
pub fn remove(path: &Path, name: &str, env: &Env) -> Result<(), EditFault> {
    change(path, env, |document| {
        let principals = principals(document)?;
        let at = at(principals, name).ok_or_else(|| EditFault::Unknown(name.to_owned()))?;
        principals.remove(at);
        Ok(())
    })
}

/// Gives a principal a new token of the kind that it has, in place of its tokens of that kind or, with `keep_old`,
/// beside them. Blocks.
///
/// # Errors
/// When there is none of that name, it has no token here, or the file is wrong or cannot be written.
pub fn rotate(
    path: &Path,
    name: &str,
    keep_old: bool,
    env: &Env,
) -> Result<(Kind, Zeroizing<String>), EditFault> {
    let (token, digest) = token(env);
    let kind = change(path, env, |document| {
        let principals = principals(document)?;
        let entry = at(principals, name).and_then(|at| principals.get_mut(at));
        let entry = entry.ok_or_else(|| EditFault::Unknown(name.to_owned()))?;
        let kind = [Kind::Bearer, Kind::ApiKey].into_iter().find(|kind| entry.contains_key(kind.key()));
        let kind = kind.ok_or_else(|| {
            EditFault::Invalid(format!(
                "{name} has neither bearer nor api_key in the access file: nothing to rotate"
            ))
        })?;
        let kept = entry.get_mut(kind.key()).and_then(Item::as_array_mut);
        match kept.filter(|_| keep_old) {
            Some(kept) => kept.push(digest),
            None => {
                entry.insert(kind.key(), list([&digest]));
            }
        }
        Ok(kind)
    })?;
    Ok((kind, token))
}

/// Every principal, in the order of the file. Blocks.
///
/// # Errors
/// When the file is wrong or cannot be read.
pub fn list_of(path: &Path) -> Result<Vec<Listed>, EditFault> {
    let file = parsed(path, &read(path)?)?;
    Ok(file
        .principal
        .into_iter()
        .map(|principal| {
            let counted = [
                ("bearer", principal.bearer.len() + usize::from(principal.bearer_secret.is_some())),
                ("api key", principal.api_key.len()),
                ("certificate", principal.certificate.len()),
                ("seal", principal.seal.len()),
            ];
            let proofs =
                counted.into_iter().filter(|(_, count)| *count > 0).map(|(word, count)| match count {
                    1 => word.to_owned(),
                    _ => format!("{word} x{count}"),
                });
            Listed {
                name: principal.name,
                proofs: proofs.collect(),
                scopes: principal.scopes,
                capabilities: principal.capabilities,
                peer: principal.peer,
            }
        })
        .collect())
}

fn change<T>(
    path: &Path,
    env: &Env,
    edit: impl FnOnce(&mut DocumentMut) -> Result<T, EditFault>,
) -> Result<T, EditFault> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _held = private::lock(dir).map_err(EditFault::File)?;
    let text = read(path)?;
    // What is wrong already is not made worse, and its mistakes are told without what stands there.
    parsed(path, &text)?;
    let mut document: DocumentMut =
        text.parse().map_err(|_| EditFault::File(format!("{}: is no TOML", path.display())))?;
    // Comments alone belong before what is added, not behind it.
    let comments = if document.as_table().is_empty() { text.as_str() } else { "" };
    if !comments.is_empty() {
        document = DocumentMut::new();
    }
    let done = edit(&mut document)?;
    let changed = format!("{comments}{document}");
    File::parse(&changed).map_err(EditFault::Invalid)?;
    // Whoever could read it before still can: there is no secret in it.
    let mode = fs::metadata(path).map_or(0o600, |file| file.permissions().mode() & 0o777);
    private::replace_with(path, changed.as_bytes(), mode, &env.id()).map_err(EditFault::File)?;
    Ok(done)
}

fn read(path: &Path) -> Result<String, EditFault> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(HEADER.to_owned()),
        read => read.map_err(|error| EditFault::File(format!("{}: {error}", path.display()))),
    }
}

fn parsed(path: &Path, text: &str) -> Result<File, EditFault> {
    File::parse(text).map_err(|problem| EditFault::File(format!("{}: {problem}", path.display())))
}

fn principals(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, EditFault> {
    let item = document.entry("principal").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    item.as_array_of_tables_mut().ok_or_else(|| {
        EditFault::File("`principal` is written in one line; write each as [[principal]] first".to_owned())
    })
}

fn at(principals: &ArrayOfTables, name: &str) -> Option<usize> {
    principals.iter().position(|entry| entry.get("name").and_then(Item::as_str) == Some(name))
}

fn list<'a>(texts: impl IntoIterator<Item = &'a String>) -> Item {
    value(Value::Array(texts.into_iter().collect::<Array>()))
}

/// A new token, and the digest that is kept of it.
fn token(env: &Env) -> (Zeroizing<String>, String) {
    let mut random = Zeroizing::new([0; 32]);
    env.fill(random.as_mut_slice());
    let token =
        Zeroizing::new(format!("{PREFIX}{}", *Zeroizing::new(URL_SAFE_NO_PAD.encode(random.as_slice()))));
    let hex: String = sha256(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    (token, format!("sha256:{hex}"))
}

#[cfg(test)]
mod tests;
