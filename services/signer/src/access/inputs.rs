//! Everything that the policy is made of, read from the disk.

use std::fs::File as Disk;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::book::{self, Inputs};
use super::file::{self, File};
use crate::Secrets;

/// Largest file of certificate authorities, in bytes.
const AUTHORITIES_BYTES_MAX: u64 = 256 * 1024;

/// Where it lies.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) file: PathBuf,
    /// The file was named by the operator, so it must be there.
    pub(super) required: bool,
    pub(super) secrets: Secrets,
}

impl Sources {
    /// Blocks.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub(super) fn read(&self) -> Result<Inputs, String> {
        let Some(text) = read(&self.file, file::BYTES_MAX)? else {
            return if self.required { Err(self.missing()) } else { Ok(Inputs::default()) };
        };
        let parsed = File::parse(&text).map_err(|problem| self.wrong(&problem))?;
        let mut inputs = Inputs::default();
        for name in parsed.secrets() {
            let secret = self.secrets.get(name).map_err(|fault| self.wrong(&fault.to_string()))?;
            if let Some(secret) = secret {
                inputs.secrets.insert(name.to_owned(), book::sha256(line(&secret)));
            }
        }
        if let Some(ca) = &parsed.clients.ca {
            let path = self.file.parent().unwrap_or(Path::new(".")).join(ca);
            inputs.authorities = authorities(&path).map_err(|problem| self.wrong(&problem))?;
        }
        inputs.text = Some(text);
        Ok(inputs)
    }

    /// Says which file it is about.
    pub(super) fn wrong(&self, problem: &str) -> String {
        format!("{}: {problem}", self.file.display())
    }

    fn missing(&self) -> String {
        self.wrong("there is no such file (signer.access): `weft access add NAME` makes one")
    }
}

/// A secret without the line end that editors put after it.
fn line(secret: &[u8]) -> &[u8] {
    let end = secret.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    &secret[..end]
}

fn authorities(path: &Path) -> Result<String, String> {
    let wrong = |problem: &str| format!("clients.ca: {}: {problem}", path.display());
    let text = read(path, AUTHORITIES_BYTES_MAX)?.ok_or_else(|| wrong("there is no such file"))?;
    if !text.contains("-----BEGIN CERTIFICATE-----") {
        return Err(wrong("holds no certificate in PEM"));
    }
    if text.contains("PRIVATE KEY-----") {
        return Err(wrong("holds a private key, which must not be here"));
    }
    Ok(text)
}

fn read(path: &Path, most: u64) -> Result<Option<String>, String> {
    let failed = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
    let file = match Disk::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| failed(&error))?,
    };
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
    if text.len() as u64 > most {
        return Err(failed(&format_args!("larger than {most} bytes")));
    }
    Ok(Some(text))
}
