//! One hosted node: its manifest as it is now, and what belongs to the node rather than to one manifest.

use std::sync::{Arc, PoisonError, RwLock};

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weft_chassis::Env;
use weft_core::manifest::{Manifest, Problem, Problems, Source, Tool};
use weft_proto::weft::{About, InvokeEvent, InvokeRequest, InvokeResult, invoke_event};
use weft_seal::{Nonces, Trust, Verifier, Window};

use crate::agent::{Book, Pursuit, Turn};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::scenario::{self, Incoming, Play, Turns};
use crate::settings::Settings;
use crate::source::{Opened, Place};

mod live;

use live::Live;

/// Events of one call: steps, then the result. Without a result the node broke.
pub(crate) type Events = BoxStream<'static, InvokeEvent>;

/// Why a call is not run.
#[derive(Debug)]
pub(crate) enum NotRun {
    /// There is no tool of this name.
    UnknownTool,
    /// What stands behind the node is away: worth trying again.
    Away(String),
}

/// A hosted node. Cheap to clone; clones are the same node.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
}

struct Shared {
    id: String,
    place: Place,
    pub(crate) settings: Settings,
    env: Env,
    nonces: Arc<Nonces>,
    verifier: RwLock<Arc<Verifier>>,
    live: RwLock<Arc<Live>>,
    turns: Turns,
    /// What is known of turns with a remote agent; kept over changes of the manifest.
    book: Book,
    calls: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

// === impl Host ===

impl Host {
    /// Opens every source of the manifest. `trust` says whose seals are accepted.
    ///
    /// # Errors
    /// Every source that cannot be opened: file, key, value and remedy.
    pub async fn open(
        manifest: Manifest,
        place: Place,
        trust: Trust,
        settings: &Settings,
        env: &Env,
    ) -> Result<Host, Problems> {
        let bound = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let id = manifest.node.id.clone();
        // A node without an address can be called from within this process only: nobody can have kept a seal of an
        // earlier life to play it again, so the seals of the starting second need not be refused.
        let started = unix_seconds(env) - i64::from(manifest.node.address.is_empty());
        let nonces = Arc::new(Nonces::new(Window::default(), bound(settings.nonces_max), started));
        let book = Book::new(place.data_dir.join(&id), settings.agent_turns_max);
        let live = Live::open(manifest, &place, &book, env).await?;
        if let Some(remote) = &live.remote {
            remote.take_up_cancels();
        }
        let verifier = RwLock::new(Arc::new(Verifier::new(&id, trust, nonces.clone())));
        let shared = Shared {
            id,
            place,
            settings: settings.clone(),
            env: env.clone(),
            nonces,
            verifier,
            live: RwLock::new(Arc::new(live)),
            turns: Turns::default(),
            book,
            calls: Arc::new(Semaphore::new(bound(settings.calls_max))),
            reads: Arc::new(Semaphore::new(bound(settings.reads_max))),
        };
        Ok(Host { shared: Arc::new(shared) })
    }

    /// The node's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Puts another manifest of the same node in place, whole. Calls that run go on with the one they began with.
    ///
    /// # Errors
    /// What is wrong with it; the present one stays.
    pub async fn reload(&self, manifest: Manifest) -> Result<(), Problems> {
        if manifest.node.id != self.shared.id {
            let remedy =
                format!("this host is node \"{}\": keep the id, or start another host", self.shared.id);
            let value = format!("\"{}\"", manifest.node.id);
            return Err(Problems(vec![Problem::new(&manifest.file, "node.id", value, remedy)]));
        }
        let Shared { place, book, env, .. } = &*self.shared;
        let live = Arc::new(Live::open(manifest, place, book, env).await?);
        *self.shared.live.write().unwrap_or_else(PoisonError::into_inner) = live;
        Ok(())
    }

    /// Trusts other keys from now on. Seals that were used stay used.
    pub fn trust(&self, trust: Trust) {
        let verifier = Arc::new(Verifier::new(&self.shared.id, trust, self.shared.nonces.clone()));
        *self.shared.verifier.write().unwrap_or_else(PoisonError::into_inner) = verifier;
    }

    /// What the node says of itself.
    #[must_use]
    pub fn about(&self) -> About {
        let node = &self.live().manifest.node;
        About {
            node: node.id.clone(),
            name: node.name.clone(),
            role: node.role.clone(),
            tools: node.tools.clone(),
            agent_backed: node.agent_backed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    pub(crate) fn env(&self) -> &Env {
        &self.shared.env
    }

    pub(crate) fn verifier(&self) -> Arc<Verifier> {
        self.shared.verifier.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The address that a call to this node is sealed for; `path` begins with a slash.
    pub(crate) fn target_uri(&self, path: &str) -> String {
        format!("{}{path}", self.live().base)
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.live().tools.contains_key(name)
    }

    /// Room for one more call; none when the node is full.
    pub(crate) fn admit(&self) -> Option<OwnedSemaphorePermit> {
        self.shared.calls.clone().try_acquire_owned().ok()
    }

    /// Runs a tool.
    pub(crate) async fn run(&self, request: InvokeRequest) -> Result<Events, NotRun> {
        let live = self.live();
        let (tool, source) = live.tools.get(&request.tool).ok_or(NotRun::UnknownTool)?.clone();
        match (source, &live.remote, &tool.source) {
            (Some(source), ..) => Ok(self.read(tool, source, &request)),
            (None, Some(remote), Source::A2a { skill }) => {
                match Turn::of(request, skill.clone(), tool.timeout, tool.bytes_max) {
                    Ok(turn) => {
                        let pursuit = Pursuit::begin(remote.clone(), turn).await.map_err(NotRun::Away)?;
                        Ok(pursuit.events().boxed())
                    }
                    Err(failure) => Ok(futures::stream::iter([result(failure.result())]).boxed()),
                }
            }
            (None, ..) => Ok(self.play(&live, &tool, request)),
        }
    }

    /// The task of a call was canceled: what stands behind the node is told, too.
    pub(crate) async fn cancel(&self, request: &InvokeRequest) -> InvokeResult {
        let live = self.live();
        let canceled = match &live.remote {
            Some(remote) => remote.cancel(&request.idempotency_key).await,
            // Whatever else a tool does ends with the call.
            None => Ok(()),
        };
        match canceled {
            Ok(()) => InvokeResult { ok: true, ..InvokeResult::default() },
            Err(failure) => failure.result(),
        }
    }

    fn read(&self, tool: Arc<Tool>, source: Arc<Opened>, request: &InvokeRequest) -> Events {
        let (reads, now) = (self.shared.reads.clone(), rfc3339(&self.shared.env));
        let arguments = Arguments::read(&tool, request.arguments.as_ref());
        let answer = async move {
            let read = match arguments {
                Ok(arguments) => source.read(tool, arguments, reads, now).await,
                Err(failure) => Err(failure),
            };
            result(read.unwrap_or_else(|failure| failure.result()))
        };
        futures::stream::once(answer).boxed()
    }

    fn play(&self, live: &Live, tool: &Tool, request: InvokeRequest) -> Events {
        let turn = self.shared.turns.count(&request.task_id, &request.idempotency_key);
        let incoming = Incoming::of(request, turn);
        match scenario::choose(&live.rules, &incoming) {
            Some(rule) => scenario::play(Play::new(rule.clone(), incoming), tool.timeout).boxed(),
            None => futures::stream::iter([result(Failure::NoRule.result())]).boxed(),
        }
    }

    fn live(&self) -> Arc<Live> {
        self.shared.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(crate) fn unix_seconds(env: &Env) -> i64 {
    env.unix_ms().div_euclid(1_000)
}

fn rfc3339(env: &Env) -> String {
    jiff::Timestamp::from_millisecond(env.unix_ms()).map_or_else(|_| String::new(), |now| format!("{now:.3}"))
}

fn result(result: InvokeResult) -> InvokeEvent {
    InvokeEvent { event: Some(invoke_event::Event::Result(result)) }
}
