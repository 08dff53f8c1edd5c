//! `weft access …`: who may call, in the access file. A mesh that runs takes changes up by itself.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weft_chassis::Env;
use weft_chassis::settings::Layers;
use weft_signer::access::edit::{self, EditFault, Kind, Listed, New};
use weft_signer::access::place;

use super::Failure;
use super::audit::{noted, of_command};
use super::out::Out;
use super::up::read;

/// Commands over the access file.
#[derive(Debug, Subcommand)]
pub(super) enum AccessCommand {
    /// Let somebody call; prints their token, once
    Add(AddArgs),
    /// Show who may call
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Let somebody call no longer
    Rm {
        /// Their name
        name: String,
    },
    /// Give somebody a new token; prints it, once
    Rotate {
        /// Their name
        name: String,
        /// The old one stays good beside it
        #[arg(long)]
        keep_old: bool,
    },
}

/// Arguments of `weft access add`.
#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// Their name; what they create belongs to p:NAME
    name: String,
    /// A key for X-API-Key instead of a bearer token
    #[arg(long)]
    api_key: bool,
    /// What they may do; can be given again [default: a2a:read and a2a:write]
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Another mesh or agent: 60 messages a minute, 100 a context, no capability but those named
    #[arg(long)]
    peer: bool,
    /// What they may use; can be given again [default: everything, for a peer nothing]
    #[arg(long, value_name = "ID")]
    capability: Vec<String>,
}

/// `weft access …`.
pub(super) fn access(layers: &Layers, command: AccessCommand) -> Result<(), Failure> {
    let settings = read(layers)?;
    let (data, env) = (PathBuf::from(&settings.mesh.data), Env::system());
    let path = place(&settings.signer, &data);
    let note = |action: &str, name: &str| noted(&data, &settings.signer, of_command(action, name), &env);
    match command {
        AccessCommand::Add(args) => {
            let kind = if args.api_key { Kind::ApiKey } else { Kind::Bearer };
            let new = New {
                name: args.name,
                kind,
                scopes: args.scope,
                capabilities: args.capability,
                peer: args.peer,
            };
            let token = edit::add(&path, &new, &env).map_err(failure)?;
            tell(&new.name, kind, &token);
            note("access.add", &new.name)
        }
        AccessCommand::List { json } => {
            list(&Out::new(json), edit::list_of(&path).map_err(failure)?);
            Ok(())
        }
        AccessCommand::Rm { name } => {
            edit::remove(&path, &name, &env).map_err(failure)?;
            Out::new(false).line(&format!("{name}: may call no longer"));
            note("access.rm", &name)
        }
        AccessCommand::Rotate { name, keep_old } => {
            let (kind, token) = edit::rotate(&path, &name, keep_old, &env).map_err(failure)?;
            tell(&name, kind, &token);
            note("access.rotate", &name)
        }
    }
}

/// The token alone on standard output, so that it can be piped on; what it is on standard error.
fn tell(name: &str, kind: Kind, token: &str) {
    let out = Out::new(false);
    let header = match kind {
        Kind::Bearer => "Authorization: Bearer",
        Kind::ApiKey => "X-API-Key:",
    };
    out.note(&format!("{name} calls with `{header} …` and this token, which is shown only now:"));
    out.line(token);
}

fn list(out: &Out, listed: Vec<Listed>) {
    if out.is_json() {
        let row = |one: Listed| {
            serde_json::json!({
                "name": one.name, "proofs": one.proofs, "scopes": one.scopes,
                "capabilities": one.capabilities, "peer": one.peer,
            })
        };
        return out.line(&serde_json::Value::Array(listed.into_iter().map(row).collect()).to_string());
    }
    for one in listed {
        let peer = if one.peer { "  peer" } else { "" };
        let named = |word: &str, names: Option<Vec<String>>| {
            names.map(|names| format!("  {word}: {}", names.join(" "))).unwrap_or_default()
        };
        let (scopes, capabilities) = (named("scopes", one.scopes), named("capabilities", one.capabilities));
        out.line(&format!("{:<24} {}{peer}{scopes}{capabilities}", one.name, one.proofs.join(", ")));
    }
}

fn failure(fault: EditFault) -> Failure {
    match fault {
        EditFault::Unknown(_) => Failure::Refused(fault.to_string()),
        EditFault::Invalid(text) => Failure::Usage(text),
        EditFault::File(text) => Failure::Mesh(text),
    }
}
