//! The keys of one identity provider: fetched when they are needed, kept, and fetched anew when they are old or when a
//! token names one that is not among them.
//!
//! However many tokens name unknown keys, the provider is asked once in a cooldown. While it cannot be asked, keys that
//! are here go on being good.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use weft_chassis::Env;

use super::fetch::{Fetcher, Place};
use super::key_set::KeySet;
use super::refusal::{Failed, Refusal};
use super::token::Token;

/// How long a provider is left in peace after it was asked.
pub(super) const COOLDOWN: Duration = Duration::from_secs(10);
const DOWN: &str = "the identity provider cannot be asked for its keys now; try again";

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct Keys(Arc<Shared>);

struct Shared {
    place: Place,
    fetcher: Fetcher,
    fresh: Duration,
    env: Env,
    state: Mutex<State>,
    /// Grows when a fetch has ended.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    keys: Arc<KeySet>,
    fetched: Option<Instant>,
    asked: Option<Instant>,
    asking: bool,
    failed: bool,
}

/// What is to be done for a key that is not here.
enum Step {
    Fetch,
    Wait,
    /// Nothing: it is fresh enough, or was asked for a moment ago; whether that failed.
    Leave {
        failed: bool,
    },
}

// === impl Keys ===

impl Keys {
    pub(super) fn new(place: Place, fetcher: Fetcher, fresh: Duration, env: &Env) -> Keys {
        let shared = Shared {
            place,
            fetcher,
            fresh,
            env: env.clone(),
            state: Mutex::default(),
            ended: watch::Sender::new(0),
        };
        Keys(Arc::new(shared))
    }

    /// Checks a token's signature.
    pub(super) async fn verify(&self, token: &Token<'_>) -> Result<(), Failed> {
        let mut ended = self.0.ended.subscribe();
        let mut waited = false;
        loop {
            let (keys, step) = self.look(token, waited);
            if let Some(key) = keys.find(token.kid.as_deref(), token.algorithm) {
                if let Step::Fetch = step {
                    self.fetch();
                }
                let good = key.verifies(token.signed.as_bytes(), &token.signature);
                return if good { Ok(()) } else { Err(Refusal::TokenSignature.into()) };
            }
            match step {
                Step::Leave { failed: true } => return Err(Failed::Unavailable(DOWN, cooldown_ms())),
                Step::Leave { failed: false } => return Err(Refusal::TokenUnknownKey.into()),
                Step::Fetch => self.fetch(),
                Step::Wait => {}
            }
            // Ended by the fetch, which is bounded, or by the end of the mesh.
            let stop = self.0.env.stop();
            tokio::select! {
                changed = ended.changed() => waited = changed.is_ok(),
                () = stop.cancelled() => return Err(Failed::Unavailable(DOWN, cooldown_ms())),
            }
        }
    }

    /// The present keys, and what is to be done: about their age when the token's key is among them, else about its lack.
    fn look(&self, token: &Token<'_>, waited: bool) -> (Arc<KeySet>, Step) {
        let mut state = self.state();
        let keys = state.keys.clone();
        let here = keys.find(token.kid.as_deref(), token.algorithm).is_some();
        let old = state.fetched.is_none_or(|at| at.elapsed() >= self.0.fresh);
        let leave = if here { !old } else { waited };
        let step = if leave { Step::Leave { failed: state.failed } } else { state.step() };
        (keys, step)
    }

    /// Fetches beside the call that needs it, so that a caller who goes away does not end it.
    fn fetch(&self) {
        let keys = self.clone();
        self.0.env.spawn(async move {
            let stop = keys.0.env.stop().clone();
            let fetched = tokio::select! {
                fetched = keys.0.fetcher.fetch(&keys.0.place) => fetched,
                () = stop.cancelled() => Err("the mesh stops".to_owned()),
            };
            keys.take(fetched);
            keys.0.ended.send_modify(|count| *count += 1);
        });
    }

    fn take(&self, fetched: Result<KeySet, String>) {
        let mut state = self.state();
        state.asking = false;
        state.failed = fetched.is_err();
        match fetched {
            Ok(set) => {
                if set.is_empty() {
                    tracing::warn!(issuer = %self.0.place, "the provider publishes no key that can be used");
                }
                state.keys = Arc::new(set);
                state.fetched = Some(Instant::now());
            }
            Err(problem) => tracing::warn!(issuer = %self.0.place, problem, "keys of a provider not fetched"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl State ===

impl State {
    fn step(&mut self) -> Step {
        if self.asking {
            return Step::Wait;
        }
        if self.asked.is_some_and(|at| at.elapsed() < COOLDOWN) {
            return Step::Leave { failed: self.failed };
        }
        self.asking = true;
        self.asked = Some(Instant::now());
        Step::Fetch
    }
}

fn cooldown_ms() -> u32 {
    u32::try_from(COOLDOWN.as_millis()).unwrap_or(u32::MAX)
}
