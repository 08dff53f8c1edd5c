//! One hosted node: its manifest as it is now, and what belongs to the node rather than to one manifest.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weft_chassis::{Env, Outbound};
use weft_core::manifest::{Manifest, Problem, Problems, Rule, Source, Tool};
use weft_proto::weft::{About, InvokeEvent, InvokeRequest, InvokeResult, invoke_event};
use weft_seal::{Nonces, Trust, Verifier, Window};

use crate::agent::{Gates, Memory, Pursuit, Remote, Turn};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::scenario::{self, Incoming, Play, Turns};
use crate::settings::Settings;
use crate::source::{Misfit, Opened, Opener, Place};

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
    memory: Arc<Memory>,
    gates: Arc<Gates>,
    calls: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

/// What one manifest makes of the node; swapped whole.
struct Live {
    manifest: Manifest,
    rules: Vec<Arc<Rule>>,
    tools: BTreeMap<String, (Arc<Tool>, Option<Arc<Opened>>)>,
    remote: Option<Arc<Remote>>,
    /// The address that calls are sealed for, without a slash at the end.
    base: String,
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
        let memory = Arc::new(Memory::new(place.data_dir.join(&id), settings.agent_turns_max));
        let gates = Arc::new(Gates::default());
        let remote = remote(&manifest, &memory, &gates, env)?;
        let live = Live::open(manifest, &place, env.outbound(), remote).await?;
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
            memory,
            gates,
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
        let Shared { memory, gates, env, place, .. } = &*self.shared;
        let remote = remote(&manifest, memory, gates, env)?;
        let live = Arc::new(Live::open(manifest, place, env.outbound(), remote).await?);
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

// === impl Live ===

impl Live {
    async fn open(
        manifest: Manifest,
        place: &Place,
        outbound: &Outbound,
        remote: Option<Arc<Remote>>,
    ) -> Result<Live, Problems> {
        let (place, outbound) = (place.clone(), outbound.clone());
        // Files are read and databases built.
        let opened =
            tokio::task::spawn_blocking(move || Live::open_blocking(manifest, &place, &outbound, remote))
                .await;
        opened.unwrap_or_else(|_| Err(Problems(vec![Problem::new("", "", "", "opening the sources failed")])))
    }

    fn open_blocking(
        manifest: Manifest,
        place: &Place,
        outbound: &Outbound,
        remote: Option<Arc<Remote>>,
    ) -> Result<Live, Problems> {
        let mut opener = Opener::new(place, &manifest.node.id, outbound);
        let (mut tools, mut problems) = (BTreeMap::new(), Vec::new());
        for tool in &manifest.tools {
            match opener.open(tool) {
                Ok(source) => {
                    tools.insert(tool.name.clone(), (Arc::new(tool.clone()), source.map(Arc::new)));
                }
                Err(Misfit { key, value, remedy }) => {
                    let key = format!("tool({}).source.{key}", tool.name);
                    problems.push(Problem::new(&manifest.file, &key, value, remedy));
                }
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let node = &manifest.node;
        let base = if node.address.is_empty() { format!("http://{}", node.id) } else { node.address.clone() };
        let base = base.trim_end_matches('/').to_owned();
        let rules = manifest.rules.iter().cloned().map(Arc::new).collect();
        Ok(Live { manifest, rules, tools, remote, base })
    }
}

/// The agent that a manifest forwards to.
fn remote(
    manifest: &Manifest,
    memory: &Arc<Memory>,
    gates: &Arc<Gates>,
    env: &Env,
) -> Result<Option<Arc<Remote>>, Problems> {
    let Some(agent) = &manifest.agent else { return Ok(None) };
    match Remote::new(agent, memory.clone(), gates.clone(), env.clone()) {
        Ok(remote) => Ok(Some(Arc::new(remote))),
        Err(Misfit { key, value, remedy }) => {
            Err(Problems(vec![Problem::new(&manifest.file, &format!("agent.{key}"), value, remedy)]))
        }
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
