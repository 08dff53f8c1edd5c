//! The command line.

mod access;
mod args;
mod audit;
mod config;
mod failure;
mod node;
mod out;
mod owner;
mod profile;
mod remote;
mod secrets;
mod store;
mod tasks;
mod up;

pub use failure::Failure;

/// Says on standard error why a command failed.
pub fn report(failure: &Failure) {
    out::Out::new(false).note(&format!("weft: {failure}"));
}

use args::{Cli, Command};

/// Parses the arguments of this process and does what they say.
///
/// # Errors
/// With the exit code in the failure. Usage errors of the argument parser end the process with code 2.
pub async fn run() -> Result<(), Failure> {
    let (cli, settings) = args::parse()?;
    match cli.command {
        Command::Up => up::up(&settings).await,
        Command::Run { roles } => up::run(&settings, &roles).await,
        Command::Node(command) => node::node(&settings, command).await,
        Command::Card(remote) => tasks::card(remote).await,
        Command::Send(outgoing) => tasks::send(outgoing).await,
        Command::Stream(outgoing) => tasks::stream(outgoing).await,
        Command::Tasks { command } => tasks::tasks(command).await,
        Command::Profile { command } => profile::profile(command),
        Command::Access { command } => access::access(&settings, command),
        Command::Secrets { command } => secrets::secrets(&settings, command),
        Command::Audit { command } => audit::audit(&settings, command).await,
        Command::Owner { command } => owner::owner_command(&settings, command).await,
        Command::Store { command } => store::store(&settings, command).await,
        Command::Config { command } => config::config(&settings, command),
        Command::Completion { shell } => {
            clap_complete::generate(shell, &mut Cli::command_with_settings(), "weft", &mut std::io::stdout());
            Ok(())
        }
    }
}
