//! Secrets of profiles: where they lie, and the files that are kept for those that were given on standard input.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What a secret is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `Authorization: Bearer`.
    Token,
    /// `X-API-Key`.
    ApiKey,
}

/// Where one lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reference<'a> {
    File(&'a Path),
    Env(&'a str),
    /// Kept by `weft profile add` under this name.
    Kept(&'a str),
}

/// The folder of those that are kept.
pub(crate) struct Secrets {
    dir: PathBuf,
}

// === impl Kind ===

impl Kind {
    pub(crate) const BOTH: [Kind; 2] = [Kind::Token, Kind::ApiKey];

    fn word(self) -> &'static str {
        match self {
            Kind::Token => "token",
            Kind::ApiKey => "api-key",
        }
    }
}

// === impl Reference ===

impl Reference<'_> {
    /// The secret.
    ///
    /// # Errors
    /// Says where it was looked for, and the remedy.
    pub(crate) fn read(&self, kind: Kind, secrets: &Secrets) -> Result<String, String> {
        let word = kind.word();
        let (text, at) = match self {
            Reference::File(file) => {
                let text = std::fs::read_to_string(file);
                (
                    text.map_err(|e| format!("the {word} in {}: {e}", file.display()))?,
                    file.display().to_string(),
                )
            }
            Reference::Env(name) => {
                let text = std::env::var(name);
                (
                    text.map_err(|_| format!("the {word} in the variable {name}: it is not set"))?,
                    (*name).to_owned(),
                )
            }
            Reference::Kept(name) => (secrets.read(name, kind)?, format!("profile {name}")),
        };
        one_line(&text)
            .map(str::to_owned)
            .ok_or_else(|| format!("the {word} of {at} is not one line of visible characters"))
    }
}

// === impl Secrets ===

impl Secrets {
    /// Beside the file of the profiles.
    pub(crate) fn beside(profiles: &Path) -> Secrets {
        Secrets { dir: profiles.with_file_name("secrets") }
    }

    /// Keeps it in a file that only its owner can read.
    pub(crate) fn keep(&self, name: &str, kind: Kind, text: &str) -> Result<(), String> {
        let line = one_line(text).ok_or_else(|| {
            format!("standard input must be the {} alone: one line of visible characters", kind.word())
        })?;
        write(&self.file(name, kind), line.as_bytes())
    }

    /// Takes it away, when there is one.
    pub(crate) fn forget(&self, name: &str, kind: Kind) -> Result<(), String> {
        let file = self.file(name, kind);
        match std::fs::remove_file(&file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(format!("{}: cannot be taken away: {e}", file.display()))
            }
            _ => Ok(()),
        }
    }

    fn read(&self, name: &str, kind: Kind) -> Result<String, String> {
        let file = self.file(name, kind);
        let shown = file.display();
        let missing = |e: std::io::Error| {
            format!("{shown}: {e}: give it again: `weft profile add {name} --{}-stdin …`", kind.word())
        };
        let mode = std::fs::metadata(&file).map_err(missing)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(format!(
                "{shown} can be read by others: replace the {}, or chmod 600 it",
                kind.word()
            ));
        }
        std::fs::read_to_string(&file).map_err(missing)
    }

    fn file(&self, name: &str, kind: Kind) -> PathBuf {
        self.dir.join(format!("{name}.{}", kind.word()))
    }
}

/// A secret without the line end that editors put after it.
fn one_line(text: &str) -> Option<&str> {
    let line = text.trim_end_matches(['\r', '\n']);
    (!line.is_empty() && line.bytes().all(|b| b.is_ascii_graphic())).then_some(line)
}

/// Writes a file that only its owner can read, whole or not at all; makes its folder with mode 0700.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: cannot be written: {e}", file.display());
    if let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside);
    written
        .and_then(|mut to| {
            // A file that was left behind keeps the mode that it had.
            to.set_permissions(Permissions::from_mode(0o600))?;
            to.write_all(bytes)?;
            to.sync_all()
        })
        .and_then(|()| std::fs::rename(&beside, file))
        .map_err(failed)
}
