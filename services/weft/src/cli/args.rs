//! Arguments: fixed commands, plus one flag for every setting, made from the settings' own declarations.

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use weft_chassis::settings::{Doc, Layers};

use super::Failure;
use super::access::AccessCommand;
use super::audit::AuditCommand;
use super::owner::OwnerCommand;
use super::profile::ProfileCommand;
use super::remote::Remote;
use super::secrets::SecretsCommand;
use super::store::StoreCommand;
use super::tasks::{Outgoing, TasksCommand};
use crate::roles::Role;
use crate::settings;

/// File that is read when it exists and no other is named.
const CONFIG_FILE: &str = "weft.toml";

/// A self-hosted A2A mesh: one network for agents and apps that cannot find, trust or follow each other.
///
/// Settings come from defaults, then a TOML file (./weft.toml or --config), then WEFT_… variables, then flags.
///
/// Exit codes: 0 done, 1 refused by the mesh, 2 bad arguments or settings, 3 mesh not reachable, 4 the task did not
/// complete, 5 the mesh could not start or broke.
#[derive(Debug, Parser)]
#[command(name = "weft", version, arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start the whole mesh in this process
    Up,
    /// Start one role, or several, in this process; the others are reached at [peers]
    Run {
        /// Roles to run here
        #[arg(required = true, value_enum)]
        roles: Vec<Role>,
    },
    /// Host one fleet node from its manifest
    Node(NodeArgs),
    /// Show what a mesh can do
    Card(Remote),
    /// Send a message and print the task it became
    Send(Outgoing),
    /// Send a message and print each event as it comes
    Stream(Outgoing),
    /// Look at tasks, cancel or follow them
    Tasks {
        #[command(subcommand)]
        command: TasksCommand,
    },
    /// Meshes that are elsewhere, and how this machine proves itself to them
    Profile {
        #[command(subcommand)]
        command: ProfileCommand,
    },
    /// Who may call this mesh, and their tokens
    Access {
        #[command(subcommand)]
        command: AccessCommand,
    },
    /// Secrets that this mesh keeps for calls to others
    Secrets {
        #[command(subcommand)]
        command: SecretsCommand,
    },
    /// The record of security events
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Show or remove everything of one owner
    Owner {
        #[command(subcommand)]
        command: OwnerCommand,
    },
    /// Check, back up or restore a task store
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Check or show the settings
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Print a completion script for a shell
    Completion { shell: clap_complete::Shell },
}

/// Arguments of `weft node`.
#[derive(Debug, Args)]
pub(super) struct NodeArgs {
    /// The node's manifest
    pub(super) manifest: std::path::PathBuf,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(super) listen: String,
    /// Trust the mesh whose edge is here; its public keys are fetched once, at the start
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8420", conflicts_with = "mesh_keys")]
    pub(super) mesh: String,
    /// Trust the mesh with these public keys (a JWK set, RFC 7517)
    #[arg(long, value_name = "FILE")]
    pub(super) mesh_keys: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum ConfigCommand {
    /// Read every source of settings and say whether they fit
    Check,
    /// Show every setting, its value and where it came from
    Show {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

/// Short names of the settings that everybody uses: flag, setting.
const SHORT: [(&str, &str); 4] =
    [("http", "edge.http"), ("grpc", "edge.grpc"), ("data", "mesh.data"), ("fleet", "catalog.dir")];

/// Commands that take settings.
const CONFIGURED: [&str; 9] = ["up", "run", "node", "access", "secrets", "audit", "owner", "store", "config"];

impl Cli {
    /// The command, with a flag for each setting on every command that takes settings.
    pub(super) fn command_with_settings() -> clap::Command {
        let docs: Vec<Doc> = settings::layers().docs().to_vec();
        let shown: Vec<String> = settings::layers().shown().map(|(_, value, _)| value).collect();
        CONFIGURED.iter().fold(Cli::command(), |cli, name| {
            cli.mut_subcommand(name, |command| with_settings(command, &docs, &shown))
        })
    }
}

fn with_settings(command: clap::Command, docs: &[Doc], defaults: &[String]) -> clap::Command {
    let config = clap::Arg::new("config")
        .long("config")
        .value_name("FILE")
        .env("WEFT_CONFIG")
        .global(true)
        .help(format!("Settings file [default: ./{CONFIG_FILE} if there is one]"))
        .value_parser(clap::value_parser!(std::path::PathBuf));
    let flags = docs.iter().zip(defaults).map(|(doc, default)| {
        let bounds = doc.range.map(|(min, max)| format!("; {min} to {max}")).unwrap_or_default();
        let arg = clap::Arg::new(doc.path())
            .long(doc.flag())
            .value_name("VALUE")
            .global(true)
            .help(format!("{} [default: {default}{bounds}] [env: {}]", capital(doc.help), doc.env()))
            .help_heading(format!("Settings: [{}]", doc.section));
        match SHORT.iter().find(|(_, path)| *path == doc.path()) {
            Some((short, _)) => arg.visible_alias(*short),
            None => arg,
        }
    });
    command.arg(config).args(flags)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Parses the command line and merges the settings.
pub(super) fn parse() -> Result<(Cli, Layers), Failure> {
    let matches = Cli::command_with_settings().get_matches();
    let cli = Cli::from_arg_matches(&matches).map_err(|e| Failure::Usage(e.to_string()))?;
    let mut layers = settings::layers();
    if let Some((name, given)) = matches.subcommand()
        && CONFIGURED.contains(&name)
    {
        merge(&mut layers, innermost(given)).map_err(|e| Failure::Usage(e.to_string()))?;
    }
    Ok((cli, layers))
}

/// Settings may stand before or after a nested command; the innermost matches know all of them.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

fn merge(layers: &mut Layers, given: &ArgMatches) -> Result<(), weft_chassis::settings::BadSetting> {
    use weft_chassis::settings::BadSetting;
    let named = given.get_one::<std::path::PathBuf>("config").cloned();
    let file = named.clone().unwrap_or_else(|| CONFIG_FILE.into());
    match std::fs::read_to_string(&file) {
        Ok(text) => layers.file(&file.display().to_string(), &text)?,
        Err(e) if named.is_some() => {
            return Err(BadSetting(format!("--config {}: cannot be read: {e}", file.display())));
        }
        Err(_) => {}
    }
    for doc in layers.docs().to_vec() {
        if let Ok(text) = std::env::var(doc.env()) {
            layers.text(doc, &text, &doc.env())?;
        }
    }
    for doc in layers.docs().to_vec() {
        if let Some(text) = given.get_one::<String>(&doc.path()) {
            layers.text(doc, text, &format!("--{}", doc.flag()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed_and_help_shows_every_setting() {
        let mut command = Cli::command_with_settings();
        command.clone().debug_assert();
        let help = command.find_subcommand_mut("up").unwrap().render_long_help().to_string();
        for doc in settings::layers().docs() {
            assert!(help.contains(&format!("--{}", doc.flag())), "{} is not in the help", doc.path());
            assert!(help.contains(&doc.env()), "{} is not in the help", doc.env());
        }
    }

    #[test]
    fn a_flag_beats_the_default_under_its_long_and_its_short_name() {
        for flag in ["--http", "--edge-http"] {
            let matches = Cli::command_with_settings()
                .try_get_matches_from(["weft", "up", flag, "127.0.0.1:9"])
                .unwrap();
            let mut layers = settings::layers();
            merge(&mut layers, innermost(matches.subcommand().unwrap().1)).unwrap();
            let edge: weft_edge::Settings = layers.section("edge").unwrap();
            assert_eq!(edge.http, "127.0.0.1:9");
        }
    }
}
