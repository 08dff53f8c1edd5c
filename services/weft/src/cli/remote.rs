//! Whom the client commands speak to, as whom, and how.

mod failure;
mod target;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use weft_chassis::Outbound;
use weft_client::{Agent, Binding, Card, Client, Error, Options};

use super::Failure;
use super::out::Out;
use target::Target;

/// Which agent, who calls, and how to print.
#[derive(Debug, Args)]
pub(super) struct Remote {
    /// Base URL of the mesh, or of any A2A agent [default: that of the profile in use, else http://127.0.0.1:8420]
    #[arg(long, env = "WEFT_URL")]
    url: Option<String>,
    /// Profile to use (see `weft profile`); without it the one in use, unless --url is given
    #[arg(long, env = "WEFT_PROFILE", value_name = "NAME")]
    profile: Option<String>,
    /// File that holds the token to call with [env: WEFT_TOKEN holds the token itself]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// PEM file of a certificate authority to trust besides those of this machine
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// PEM file of a certificate that shows who calls
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// PEM file of the key that belongs to it
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Speak this binding: jsonrpc, rest or grpc; without it the agent's card decides
    #[arg(long)]
    binding: Option<Binding>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

impl Remote {
    /// How to print.
    pub(super) fn out(&self) -> Out {
        Out::new(self.json)
    }

    /// The agent's card.
    pub(super) async fn card(&self) -> Result<Arc<Card>, Failure> {
        let (client, url) = self.client()?;
        client.card(&url).await.map_err(|error| self.failure(&error))
    }

    /// The agent.
    pub(super) async fn agent(&self) -> Result<Agent, Failure> {
        let (client, url) = self.client()?;
        client.agent(&url, self.binding.as_slice()).await.map_err(|error| self.failure(&error))
    }

    /// What an error of the client means for the command.
    pub(super) fn failure(&self, error: &Error) -> Failure {
        let base = Target::of(self).map(|target| target.url).unwrap_or_default();
        failure::of(&base, error)
    }

    fn client(&self) -> Result<(Client, String), Failure> {
        let target = Target::of(self).map_err(Failure::Usage)?;
        if let Some(warning) = target.warning() {
            self.out().note(&warning);
        }
        let Target { url, outbound, credentials } = target;
        let client = Client::new(Options { outbound, credentials, ..Options::default() });
        Ok((client.map_err(|error| failure::of(&url, &error))?, url))
    }
}

/// A public document of the mesh at `base`.
pub(super) async fn document(base: &str, path: &str, outbound: Outbound) -> Result<String, Failure> {
    let failed = |error: Error| failure::of(base, &error);
    let client = Client::new(Options { outbound, ..Options::default() }).map_err(failed)?;
    let body = client.document(&format!("{}{path}", base.trim_end_matches('/'))).await.map_err(failed)?;
    String::from_utf8(body.to_vec()).map_err(|_| Failure::Refused(format!("{path} of {base} is not text")))
}
