//! Whom the client commands speak to, and how.

use clap::Args;
use weft_chassis::Outbound;
use weft_client::{Agent, Binding, Card, Client, Error, Options, Why};

use super::Failure;
use super::out::Out;

/// Which agent, and how to print.
#[derive(Debug, Args)]
pub(super) struct Remote {
    /// Base URL of the mesh, or of any A2A agent
    #[arg(long, env = "WEFT_URL", default_value = "http://127.0.0.1:8420")]
    url: String,
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
    pub(super) async fn card(&self) -> Result<std::sync::Arc<Card>, Failure> {
        let client = Client::new(Options::default()).map_err(|error| self.failure(&error))?;
        client.card(&self.url).await.map_err(|error| self.failure(&error))
    }

    /// The agent.
    pub(super) async fn agent(&self) -> Result<Agent, Failure> {
        let client = Client::new(Options::default()).map_err(|error| self.failure(&error))?;
        client.agent(&self.url, self.binding.as_slice()).await.map_err(|error| self.failure(&error))
    }

    /// What an error of the client means for the command.
    pub(super) fn failure(&self, error: &Error) -> Failure {
        failure(&self.url, error)
    }
}

/// A public document of the mesh at `base`.
pub(super) async fn document(base: &str, path: &str, outbound: Outbound) -> Result<String, Failure> {
    let failed = |error: Error| failure(base, &error);
    let client = Client::new(Options { outbound, ..Options::default() }).map_err(failed)?;
    let body = client.document(&format!("{}{path}", base.trim_end_matches('/'))).await.map_err(failed)?;
    String::from_utf8(body.to_vec()).map_err(|_| Failure::Refused(format!("{path} of {base} is not text")))
}

fn failure(base: &str, error: &Error) -> Failure {
    match &error.why {
        Why::Refused(refusal) => {
            Failure::Refused(format!("{} ({})", refusal.fault.message, refusal.fault.kind.row().jsonrpc))
        }
        Why::Unreachable(text) => {
            Failure::Unreachable(format!("cannot reach {}: {text}; is the mesh up? (`weft up`)", base))
        }
        Why::Broken(_) | Why::TimedOut(_) | Why::Unfinished(_) => {
            let next = error.trail.task_id.as_ref().map(|id| format!("; see `weft tasks get {id}`"));
            Failure::Unreachable(format!("{}{}", error.why, next.unwrap_or_default()))
        }
        Why::Unusable(_) => Failure::Usage(error.to_string()),
        _ => Failure::Refused(error.to_string()),
    }
}
