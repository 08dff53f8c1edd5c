//! Who calls: the access policy as the signer says it, and what a request shows for it. No request is read further
//! before this is known.
//!
//! | module | holds |
//! |---|---|
//! | `admit` | the gate that every call and every page of the console's data goes through |
//! | `policy` | the watched policy |
//! | `presented`, `seal`, `origin` | what a request shows |
//! | `answers`, `session` | what was proved before, bounded |
//! | `who` | the outcome |
//! | `challenge` | what a caller hears who is not let in |
//! | `denial` | the same as one word, for the record and the counters |

mod admit;
mod answers;
mod challenge;
mod denial;
mod origin;
mod policy;
mod presented;
mod seal;
mod session;
mod who;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use weft_chassis::{Env, Peer};
use weft_core::{Fault, Kind};
use weft_proto::weft::access_client::AccessClient;
use weft_proto::weft::{AccessPolicy, AuthenticateRequest, VerifyRequest};

use crate::tls::Authorities;
use crate::upstreams::{bounded, unavailable};
pub(crate) use admit::{Admitted, administrators, callers, inspected};
use answers::Answers;
pub(crate) use challenge::{challenge, required, task_access};
pub(crate) use denial::Denial;
use presented::Presented;
pub(crate) use session::{COOKIE_NAME, LASTS_S, Session, Sessions, id as session_id};
pub(crate) use who::{Standing, Who};

/// The present policy; nothing until the signer has answered.
pub(crate) type Policies = watch::Receiver<Option<Arc<AccessPolicy>>>;

/// Who may call this edge.
pub(crate) struct Access {
    policies: Policies,
    authorities: Authorities,
    client: AccessClient<Peer>,
    answers: Answers,
    sessions: Sessions,
    /// True where other machines can reach a listener and the operator has not said that they all may use it.
    exposed: bool,
    /// How long the signer may take.
    within: Duration,
    env: Env,
}

// === impl Access ===

impl Access {
    /// Watches the policy until the mesh stops.
    pub(crate) fn watch(client: AccessClient<Peer>, exposed: bool, within: Duration, env: &Env) -> Access {
        let (policy, policies) = watch::channel(None);
        let (asked, authorities) = watch::channel(None);
        env.spawn(policy::follow(client.clone(), policy, asked, env.clone()));
        Access {
            policies,
            authorities,
            client,
            answers: Answers::default(),
            sessions: Sessions::default(),
            exposed,
            within,
            env: env.clone(),
        }
    }

    pub(crate) fn policies(&self) -> Policies {
        self.policies.clone()
    }

    /// Whose client certificates are taken.
    pub(crate) fn authorities(&self) -> Authorities {
        self.authorities.clone()
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The present policy. A caller that comes before it waits for it, but not for long.
    ///
    /// # Errors
    /// `Unavailable` when the signer has not answered yet.
    pub(crate) async fn policy(&self) -> Result<Arc<AccessPolicy>, Fault> {
        if let Some(policy) = self.policies.borrow().clone() {
            return Ok(policy);
        }
        self.first(self.within).await.ok_or_else(unavailable)
    }

    /// The first policy, if it comes in time.
    pub(crate) async fn first(&self, within: Duration) -> Option<Arc<AccessPolicy>> {
        let mut policies = self.policies.clone();
        let first = tokio::time::timeout(within, policies.wait_for(Option::is_some)).await;
        first.ok().and_then(Result::ok).and_then(|policy| policy.clone())
    }

    /// Whoever shows nothing at all.
    fn stranger(&self, policy: &AccessPolicy, peer: IpAddr) -> Result<Arc<Who>, Fault> {
        if policy.credentials {
            return match policy.anonymous_capabilities.as_slice() {
                [] => Err(challenge::required("credentials are needed here: see the agent card for which")),
                _ => Ok(Arc::new(Who::anonymous(policy, peer))),
            };
        }
        if self.exposed {
            let text = "nobody may call here: no credential is configured (weft access add NAME)";
            return Err(Fault::new(Kind::Unavailable, text));
        }
        Ok(Who::local())
    }

    /// Asks the signer, or takes what it said before.
    async fn prove(
        &self,
        policy: &AccessPolicy,
        presented: Presented,
        sealed: Option<VerifyRequest>,
        peer: IpAddr,
    ) -> Result<Arc<Who>, Fault> {
        let kept_under = sealed.is_none().then(|| presented.digest());
        let now_ms = self.env.unix_ms();
        if let Some(who) = kept_under.and_then(|digest| self.answers.get(&digest, policy.version, now_ms)) {
            return Ok(who);
        }
        let asked = AuthenticateRequest {
            bearer: presented.bearer,
            api_key: presented.api_key,
            certificate: presented.certificate.map(|der| der.to_vec()).unwrap_or_default(),
            sealed,
            peer: peer.to_string(),
        };
        let answer = bounded(self.within, self.client.clone().authenticate(asked)).await;
        let answer = answer.map_err(|fault| match fault.kind {
            Kind::Unavailable | Kind::Deadline | Kind::Exhausted => fault,
            Kind::Unauthenticated | Kind::Invalid => challenge::invalid(),
            _ => {
                tracing::warn!(error = fault.message, "credentials cannot be checked");
                Fault::internal("the credentials cannot be checked")
            }
        })?;
        let principal = answer.principal.ok_or_else(challenge::invalid)?;
        let who = Arc::new(Who::principal(principal)?);
        if let Some(digest) = kept_under.filter(|_| answer.keep_ms > 0) {
            let until_ms = now_ms.saturating_add(i64::from(answer.keep_ms));
            self.answers.keep(digest, Arc::clone(&who), policy.version, until_ms, now_ms);
        }
        Ok(who)
    }
}
