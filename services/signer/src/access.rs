//! Who calls: the credentials that callers bring, held against the access file and its identity providers.
//!
//! | module | contents |
//! |---|---|
//! | `file` | the access file as it is written; secrets in the clear are refused |
//! | `book` | the same, ready to be asked: who has this digest, this name, this seal |
//! | [`edit`] | the file changed by commands, its comments kept |
//! | `inputs` | everything that the policy is made of, read from the disk |
//! | `follow` | the present policy, and the next one when the file changes |
//! | `authenticate` | the credentials of one call become a principal, or one reason |
//! | `token`, `key_set`, `provider`, `fetch` | JWTs of identity providers, and the keys that check them |
//! | `certificate` | the names in client certificates |
//! | `policy` | what callers are told about how to prove who they are |
//! | `refusal` | why somebody was not let in: for the record only |
//! | `grpc` | the service |

mod authenticate;
mod book;
mod certificate;
pub mod edit;
mod fetch;
mod file;
mod follow;
mod grpc;
mod inputs;
mod key_set;
mod policy;
mod provider;
mod refusal;
mod token;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tonic::service::Routes;
use weft_chassis::Env;
use weft_proto::weft::access_server::AccessServer;

use crate::audit::Audit;
use crate::metrics::Metrics;
use crate::seals::Seals;
use crate::{Secrets, Settings};
use fetch::Fetcher;
use follow::Follower;
use inputs::Sources;

/// Largest request: a token, a certificate and the headers of a call.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Access {
    follower: Arc<Follower>,
    secrets: Secrets,
    seals: Arc<Seals>,
    audit: Audit,
    metrics: Metrics,
    watchers: Arc<Semaphore>,
    env: Env,
}

/// Where the access file lies: `signer.access`, else `access.toml` in the data folder.
#[must_use]
pub fn place(settings: &Settings, data: &Path) -> PathBuf {
    if settings.access.is_empty() { data.join("access.toml") } else { PathBuf::from(&settings.access) }
}

// === impl Access ===

impl Access {
    /// Reads the access file and follows it until the mesh stops. Blocks shortly.
    ///
    /// # Errors
    /// Names the file, the field and the remedy.
    pub(crate) fn open(
        settings: &Settings,
        data: &Path,
        seals: Arc<Seals>,
        audit: Audit,
        env: &Env,
    ) -> Result<Access, String> {
        let secrets = Secrets::new(data, &settings.secrets_key_file);
        let sources = Sources {
            file: place(settings, data),
            required: !settings.access.is_empty(),
            secrets: secrets.clone(),
        };
        let within = Duration::from_millis(u64::from(settings.provider_timeout_ms));
        let fetcher = Fetcher::new(env.outbound(), within)?;
        let fresh = Duration::from_secs(u64::from(settings.provider_keys_s));
        let follower = Arc::new(Follower::open(sources, fetcher, fresh, audit.clone(), env)?);
        let every = Duration::from_millis(u64::from(settings.access_poll_ms));
        env.spawn(follow::run(follower.clone(), env.clone(), every));
        let watchers = usize::try_from(settings.access_watchers_max).unwrap_or(usize::MAX);
        Ok(Access {
            follower,
            secrets,
            metrics: seals.metrics.clone(),
            seals,
            audit,
            watchers: Arc::new(Semaphore::new(watchers.min(Semaphore::MAX_PERMITS))),
            env: env.clone(),
        })
    }

    /// The service beside others.
    pub(crate) fn add_to(&self, routes: Routes) -> Routes {
        routes.add_service(AccessServer::new(self.clone()).max_decoding_message_size(REQUEST_BYTES_MAX))
    }
}
