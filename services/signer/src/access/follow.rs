//! The present policy, and the next one when the file changes. What is wrong leaves the present one in place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use weft_chassis::Env;
use weft_proto::weft::audit_event::Outcome;
use weft_proto::weft::{AccessPolicy, AuditEvent};

use super::book::{Book, Inputs};
use super::fetch::{Fetcher, Place};
use super::inputs::Sources;
use super::policy;
use super::provider::Keys;
use crate::audit::Audit;

/// One policy, and what it is asked by.
#[derive(Default)]
pub(super) struct Present {
    pub(super) book: Book,
    pub(super) policy: AccessPolicy,
    /// The keys of each provider of the book, in its order.
    pub(super) keys: Vec<Keys>,
}

/// See the module.
pub(super) struct Follower {
    sources: Sources,
    fetcher: Fetcher,
    fresh: Duration,
    audit: Audit,
    env: Env,
    state: Mutex<State>,
    present: watch::Sender<Arc<Present>>,
}

struct State {
    inputs: Inputs,
    /// What was last found wrong, so that it is said once and not at every look.
    refused: Option<String>,
    /// Kept over changes of the file, so that a provider is not asked again for each of them.
    keys: BTreeMap<Place, Keys>,
}

// === impl Follower ===

impl Follower {
    /// # Errors
    /// When the file is there and wrong, or named and not there.
    pub(super) fn open(
        sources: Sources,
        fetcher: Fetcher,
        fresh: Duration,
        audit: Audit,
        env: &Env,
    ) -> Result<Follower, String> {
        let inputs = sources.read()?;
        let book = Book::new(&inputs).map_err(|problem| sources.wrong(&problem))?;
        let state = State { inputs, refused: None, keys: BTreeMap::new() };
        let present = watch::Sender::new(Arc::default());
        let follower =
            Follower { sources, fetcher, fresh, audit, env: env.clone(), state: Mutex::new(state), present };
        follower.publish(book, &mut follower.state());
        Ok(follower)
    }

    pub(super) fn present(&self) -> Arc<Present> {
        self.present.borrow().clone()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Arc<Present>> {
        self.present.subscribe()
    }

    /// Looks at the file again; true when the policy changed. Blocks.
    pub(super) fn look(&self) -> bool {
        let read = self.sources.read();
        let mut state = self.state();
        let taken = read.and_then(|inputs| self.take(inputs, &mut state));
        let refused = taken.as_ref().err().cloned();
        if let Some(problem) = refused.as_ref().filter(|problem| state.refused.as_ref() != Some(problem)) {
            tracing::error!(target: "weft::access", %problem, "access file refused, the policy stays as it was");
            self.note(Outcome::Failed, "FILE_REFUSED");
        }
        state.refused = refused;
        taken.unwrap_or(false)
    }

    fn take(&self, inputs: Inputs, state: &mut State) -> Result<bool, String> {
        if inputs == state.inputs {
            return Ok(false);
        }
        // A file that is gone for a moment, as editors do it, must not open the mesh to everybody.
        if inputs.text.is_none() {
            return Err(self
                .sources
                .wrong("is gone; put it back, or an empty one for no credentials at all"));
        }
        let book = Book::new(&inputs).map_err(|problem| self.sources.wrong(&problem))?;
        state.inputs = inputs;
        self.publish(book, state);
        self.note(Outcome::Ok, "");
        Ok(true)
    }

    fn note(&self, outcome: Outcome, reason: &str) {
        self.audit.note(AuditEvent {
            action: "access.read".to_owned(),
            target: self.sources.file.display().to_string(),
            outcome: outcome.into(),
            reason: reason.to_owned(),
            ..AuditEvent::default()
        });
    }

    fn publish(&self, book: Book, state: &mut State) {
        let made = |place: &Place| Keys::new(place.clone(), self.fetcher.clone(), self.fresh, &self.env);
        let keys: Vec<Keys> = book
            .providers
            .iter()
            .map(|p| state.keys.get(&p.place).cloned().unwrap_or_else(|| made(&p.place)))
            .collect();
        state.keys = book.providers.iter().map(|p| p.place.clone()).zip(keys.iter().cloned()).collect();
        // Grows from one start to the next, too: who watches must not take a new policy for an old one.
        let now = u64::try_from(self.env.unix_ms()).unwrap_or(0);
        let version = now.max(self.present.borrow().policy.version + 1);
        let policy = policy::of(&book, version);
        tracing::info!(target: "weft::access", version, credentials = policy.credentials, "access policy read");
        self.present.send_replace(Arc::new(Present { book, policy, keys }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the file until the mesh stops.
pub(super) async fn run(follower: Arc<Follower>, env: Env, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = env.stop().cancelled() => return,
            _ = ticks.tick() => {}
        }
        let looking = follower.clone();
        if tokio::task::spawn_blocking(move || looking.look()).await.is_err() {
            tracing::error!(target: "weft::access", "reading the access file failed");
        }
    }
}
