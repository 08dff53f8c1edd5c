//! Keeps what new connections go by up to date. What cannot be used changes nothing, and is said once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::Authorities;
use super::config::Current;
use super::files::{Files, Pair};

/// See the module.
pub(super) struct Follower {
    files: Files,
    pair: Pair,
    authorities: Authorities,
    /// Those in use.
    asked: Option<Arc<str>>,
    current: watch::Sender<Current>,
    /// What was last said of the files.
    said: Option<String>,
}

// === impl Follower ===

impl Follower {
    pub(super) fn new(
        files: Files,
        pair: Pair,
        authorities: Authorities,
        asked: Option<Arc<str>>,
        current: watch::Sender<Current>,
    ) -> Follower {
        Follower { files, pair, authorities, asked, current, said: None }
    }

    /// Looks at the files this often, and at the authorities when they change. Never ends.
    pub(super) async fn run(mut self, every: Duration) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.look().await,
                () = changed(&mut self.authorities) => self.ask(),
            }
        }
    }

    pub(super) async fn look(&mut self) {
        let problem = match self.files.read().await {
            Ok(pair) if pair.digest == self.pair.digest => None,
            Ok(pair) => match Current::new(&pair, self.asked.as_deref()) {
                Ok(next) => {
                    self.pair = pair;
                    // The clients' certificates hold as they did.
                    self.current.send_modify(|current| current.config = next.config);
                    tracing::info!("the certificate of the listeners was read again");
                    None
                }
                Err(problem) => Some(problem),
            },
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem.as_ref().filter(|problem| self.said.as_ref() != Some(problem)) {
            tracing::warn!(%problem, "the certificate of the listeners stays as it was");
        }
        self.said = problem;
    }

    pub(super) fn ask(&mut self) {
        let asked = self.authorities.borrow_and_update().clone();
        if asked == self.asked {
            return;
        }
        match Current::new(&self.pair, asked.as_deref()) {
            Ok(next) => {
                self.asked = asked;
                self.current.send_replace(next).clients.cancel();
            }
            Err(problem) => tracing::warn!(%problem, "client certificates are asked for as before"),
        }
    }
}

/// Resolves when they change; never when nobody can change them any more.
async fn changed(authorities: &mut Authorities) {
    if authorities.changed().await.is_err() {
        std::future::pending().await
    }
}
