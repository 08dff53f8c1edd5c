//! `weft secrets …`: the operator's secrets in the data folder. A mesh that runs takes changes up by itself.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use weft_chassis::Env;
use weft_chassis::settings::Layers;
use weft_proto::wkt::Timestamp;
use weft_signer::secrets::SECRET_BYTES_MAX;
use weft_signer::{SecretFault, Secrets};

use super::Failure;
use super::audit::{noted, of_command};
use super::out::Out;
use super::up::read;

/// Commands over the secret store.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Keep a secret; its value comes from standard input, or is asked for without being shown
    Set {
        /// Its name: letters, digits and -_.
        name: String,
    },
    /// Show the names, and when each was set
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Take a secret away
    Rm {
        /// Its name
        name: String,
    },
    /// Encrypt every secret anew under another key
    Rotate {
        /// File with the next key, when the present one comes from WEFT_SECRETS_KEY or signer.secrets_key_file
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
    },
}

/// `weft secrets …`.
pub(super) fn secrets(layers: &Layers, command: SecretsCommand) -> Result<(), Failure> {
    let settings = read(layers)?;
    let (data, env) = (PathBuf::from(&settings.mesh.data), Env::system());
    let secrets = Secrets::new(&data, &settings.signer.secrets_key_file);
    let note = |action: &str, target: &str| noted(&data, &settings.signer, of_command(action, target), &env);
    let out = Out::new(matches!(command, SecretsCommand::List { json: true }));
    match command {
        SecretsCommand::Set { name } => {
            secrets.set(&name, &value(&name)?, &env).map_err(failure)?;
            note("secret.set", &name)?;
            out.line(&format!("{name}: kept, encrypted"));
        }
        SecretsCommand::List { .. } => list(&secrets, &out)?,
        SecretsCommand::Rm { name } => {
            if !secrets.remove(&name).map_err(failure)? {
                return Err(Failure::Refused(format!("there is no secret {name}")));
            }
            note("secret.rm", &name)?;
            out.line(&format!("{name}: taken away"));
        }
        SecretsCommand::Rotate { to } => {
            let count = secrets.rotate(to.as_deref(), &env).map_err(failure)?;
            note("secret.rotate", &format!("{count} secrets"))?;
            out.line(&rotated(count, to.as_deref()));
        }
    }
    Ok(())
}

fn rotated(count: usize, to: Option<&Path>) -> String {
    match to {
        None => format!("{count} secrets are encrypted under a new key"),
        Some(file) => format!(
            "{count} secrets are encrypted under the key in {}: put it in the place of the present one now; until then \
             the mesh cannot read them",
            file.display()
        ),
    }
}

fn list(secrets: &Secrets, out: &Out) -> Result<(), Failure> {
    let listed = secrets.list().map_err(failure)?;
    let rows = listed.into_iter().map(|secret| {
        let since = secret.changed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        (secret.name, Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
    });
    if out.is_json() {
        let rows: Vec<_> =
            rows.map(|(name, changed)| serde_json::json!({ "name": name, "changed": changed })).collect();
        out.line(&serde_json::Value::Array(rows).to_string());
    } else {
        rows.for_each(|(name, changed)| out.line(&format!("{name:<32} {changed}")));
    }
    Ok(())
}

/// From standard input without the line end at its end, or from the terminal without showing it.
fn value(name: &str) -> Result<Vec<u8>, Failure> {
    let stdin = std::io::stdin();
    let failed = |e: std::io::Error| Failure::Usage(format!("the secret cannot be read: {e}"));
    if stdin.is_terminal() {
        return rpassword::prompt_password(format!("{name}: ")).map(String::into_bytes).map_err(failed);
    }
    let mut bytes = Vec::new();
    stdin.lock().take(SECRET_BYTES_MAX as u64 + 2).read_to_end(&mut bytes).map_err(failed)?;
    let line = bytes.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(line.unwrap_or(&bytes).to_vec())
}

fn failure(fault: SecretFault) -> Failure {
    let text = fault.to_string();
    match fault {
        SecretFault::Name | SecretFault::Length | SecretFault::Key { .. } | SecretFault::NextKey { .. } => {
            Failure::Usage(text)
        }
        SecretFault::Closed { .. } => Failure::Mesh(text),
        SecretFault::Io(problem) => Failure::Mesh(problem),
    }
}
