//! Follows the policy. While the signer is away the last one goes on being used.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tonic::{Code, Status};
use weft_chassis::{Env, Peer};
use weft_proto::weft::access_client::AccessClient;
use weft_proto::weft::{AccessPolicy, WatchAccessRequest};

/// How long to wait before the watch is opened again: first and most.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

type Policy = watch::Sender<Option<Arc<AccessPolicy>>>;
type Authorities = watch::Sender<Option<Arc<str>>>;

pub(super) async fn follow(
    mut client: AccessClient<Peer>,
    policy: Policy,
    authorities: Authorities,
    env: Env,
) {
    let stop = env.stop().clone();
    let mut pause = RETRY.0;
    loop {
        let watched = tokio::select! {
            watched = follow_once(&mut client, &policy, &authorities) => watched,
            () = stop.cancelled() => return,
        };
        match watched {
            Ok(()) => pause = RETRY.0,
            Err(refused) if refused.code() == Code::Unimplemented => {
                pause = RETRY.1;
                // This signer knows no credentials at all. What another one has said before still holds.
                policy.send_if_modified(|known| {
                    let first = known.is_none();
                    if first {
                        *known = Some(Arc::default());
                    }
                    first
                });
            }
            Err(refused) => tracing::warn!(error = refused.message(), "the access policy cannot be watched"),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(RETRY.1),
            () = stop.cancelled() => return,
        }
    }
}

/// Follows one watch to its end; `Ok` when it brought at least one policy.
async fn follow_once(
    client: &mut AccessClient<Peer>,
    policy: &Policy,
    authorities: &Authorities,
) -> Result<(), Status> {
    let mut said = client.watch(WatchAccessRequest {}).await?.into_inner();
    let mut any = false;
    loop {
        match said.message().await {
            Ok(Some(next)) => {
                any = true;
                let asked = Some(next.client_ca_pem.as_str()).filter(|pem| !pem.trim().is_empty());
                authorities.send_if_modified(|known| {
                    let changed = known.as_deref() != asked;
                    if changed {
                        *known = asked.map(Arc::from);
                    }
                    changed
                });
                policy.send_replace(Some(Arc::new(next)));
            }
            Ok(None) => return Ok(()),
            Err(refused) if any => {
                tracing::warn!(error = refused.message(), "the watch of the access policy broke");
                return Ok(());
            }
            Err(refused) => return Err(refused),
        }
    }
}
