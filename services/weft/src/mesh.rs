//! The composition root: which role is here and which is far, in what order they start and stop.
//!
//! Callees start before callers and stop after them. A role that is here is handed to its callers as a value; one that
//! is far, as a channel: nothing else differs.

mod gate;
mod hosted;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use weft_chassis::{Env, Outbound, Peer, peer, serve};

use crate::roles::Role;
use crate::settings::{Listen, Peers, Settings};

pub use gate::Refused;
pub(crate) use hosted::{keys_in, trusting};

/// A running mesh, or the roles of one that run here.
pub struct Mesh {
    env: Env,
    scopes: Vec<(Role, Env)>,
    addresses: BTreeMap<Role, SocketAddr>,
    grpc: Option<SocketAddr>,
    broken: CancellationToken,
    tasks: Option<weft_tasks::Handle>,
    drain: Duration,
}

/// What is to run in this process.
pub struct Plan {
    roles: BTreeSet<Role>,
    /// Roles answer on ports of their own; an all-in-one needs none but the edge's.
    apart: bool,
    settings: Settings,
    /// The journal's routes, when it was made beforehand to take the spans of the start too.
    journal: Option<Routes>,
}

impl Plan {
    /// Every role in this process, no port but the edge's.
    #[must_use]
    pub fn all_in_one(settings: Settings) -> Plan {
        Plan { roles: Role::ALL.into(), apart: false, settings, journal: None }
    }

    /// Some roles, each on its port of `[listen]`; the others are reached at `[peers]`.
    #[must_use]
    pub fn apart(roles: &[Role], settings: Settings) -> Plan {
        Plan { roles: roles.iter().copied().collect(), apart: true, settings, journal: None }
    }

    /// Makes the journal now, before the mesh starts, and says how to reach it, so that telemetry can send it the
    /// spans of the start too. A journal that runs elsewhere is reached at `[peers]`.
    ///
    /// # Errors
    /// When its address is no URL.
    pub fn journal(&mut self, env: &Env) -> Result<Peer, String> {
        if !self.roles.contains(&Role::Journal) {
            return peer::remote(&self.settings.peers.journal);
        }
        let routes = weft_journal::routes(&self.settings.journal, env);
        self.journal = Some(routes.clone());
        Ok(peer::local(routes))
    }
}

/// The roles that are here already, and how to reach the others.
struct Composer {
    plan: Plan,
    data: PathBuf,
    mesh: Mesh,
    here: BTreeMap<Role, Peer>,
}

impl Mesh {
    /// Starts what the plan says, in the order of dependency, then holds the lists of the catalog, the bridge and the
    /// nodes against one another.
    ///
    /// # Errors
    /// Says which part could not start and why. What had started is stopped again.
    pub async fn start(plan: Plan, env: Env) -> Result<Mesh, String> {
        let outbound = Outbound::open(&plan.settings.outbound)?;
        let mut composer = Composer::new(plan, env.reaching(outbound));
        let started = composer.start().await;
        match started {
            Ok(()) => Ok(composer.mesh),
            Err(problem) => {
                composer.mesh.stop().await;
                Err(problem)
            }
        }
    }

    /// Where a role of this process listens; nothing for one that needs no port.
    #[must_use]
    pub fn address(&self, role: Role) -> Option<SocketAddr> {
        self.addresses.get(&role).copied()
    }

    /// Where the edge's gRPC binding has a listener of its own (`edge.grpc`).
    #[must_use]
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc
    }

    /// Cancelled when a part broke and the process should end with an error.
    #[must_use]
    pub fn broken(&self) -> &CancellationToken {
        &self.broken
    }

    /// Stops every role, callers before callees, each within the drain bound. True when all running work had ended.
    pub async fn stop(mut self) -> bool {
        let mut clean = true;
        while let Some((role, scope)) = self.scopes.pop() {
            if !scope.drain(self.drain).await {
                clean = false;
                tracing::warn!(%role, "stopped with work under way");
            }
        }
        clean &= self.env.drain(self.drain).await;
        if let Some(tasks) = self.tasks.take() {
            tasks.close().await;
        }
        clean
    }
}

impl Composer {
    fn new(plan: Plan, env: Env) -> Composer {
        let data = PathBuf::from(&plan.settings.mesh.data);
        let mesh = Mesh {
            env,
            scopes: Vec::new(),
            addresses: BTreeMap::new(),
            grpc: None,
            broken: CancellationToken::new(),
            tasks: None,
            drain: Duration::from_millis(plan.settings.mesh.drain_ms),
        };
        Composer { plan, data, mesh, here: BTreeMap::new() }
    }

    async fn start(&mut self) -> Result<(), String> {
        for role in Role::ALL {
            if self.plan.roles.contains(&role) {
                let env = self.mesh.env.scope();
                self.mesh.scopes.push((role, env.clone()));
                self.start_role(role, &env).await.map_err(|e| format!("the {role} cannot start: {e}"))?;
                tracing::debug!(%role, "started");
            }
        }
        Ok(())
    }

    async fn start_role(&mut self, role: Role, env: &Env) -> Result<(), String> {
        match role {
            Role::Signer => {
                let signer = weft_signer::Signer::open(&self.plan.settings.signer, &self.data, env)
                    .map_err(|e| e.to_string())?;
                self.offer(role, signer.routes(), env).await
            }
            Role::Journal => {
                let made = self.plan.journal.take();
                let routes = made.unwrap_or_else(|| weft_journal::routes(&self.plan.settings.journal, env));
                self.offer(role, routes, env).await
            }
            Role::Catalog => {
                let (routes, _) =
                    weft_catalog::routes(&self.plan.settings.catalog, env).map_err(|e| e.to_string())?;
                self.offer(role, routes, env).await
            }
            Role::Tasks => {
                let outside = weft_tasks::Outside::new(self.upstream(role, Role::Signer)?);
                let (routes, handle) =
                    weft_tasks::routes(&self.plan.settings.tasks, &self.data, outside, env)
                        .await
                        .map_err(|e| e.to_string())?;
                self.end_when(handle.failed(), "the task store cannot write any more");
                self.mesh.tasks = Some(handle);
                self.offer(role, routes, env).await
            }
            Role::Negotiator => self.offer(role, weft_negotiator::routes(env), env).await,
            Role::ExecutorBridge => {
                let hosted =
                    hosted::nodes(&self.plan.settings, &self.data, self.upstream(role, Role::Signer)?, env)
                        .await?;
                let upstreams = weft_executor_bridge::Upstreams {
                    tasks: self.upstream(role, Role::Tasks)?,
                    catalog: self.upstream(role, Role::Catalog)?,
                    signer: self.upstream(role, Role::Signer)?,
                };
                let settings = self.plan.settings.bridge.clone();
                let (routes, _) = weft_executor_bridge::start(settings, upstreams, hosted, env.clone())?;
                self.offer(role, routes, env).await
            }
            Role::Edge => self.start_edge(env).await,
        }
    }

    /// The listener opens only after the gate has passed: nothing is served that the fleet cannot do.
    async fn start_edge(&mut self, env: &Env) -> Result<(), String> {
        let role = Role::Edge;
        let upstreams = weft_edge::Upstreams {
            tasks: self.upstream(role, Role::Tasks)?,
            catalog: self.upstream(role, Role::Catalog)?,
            signer: self.upstream(role, Role::Signer)?,
        };
        let edge = weft_edge::bind(self.plan.settings.edge.clone(), &upstreams, env).await?;
        let within = Duration::from_millis(self.plan.settings.mesh.start_ms);
        let base = self.plan.settings.edge.base_path.trim_end_matches('/');
        gate::pass(edge.router(), base, self.upstream(role, Role::ExecutorBridge)?, within).await?;
        self.mesh.addresses.insert(role, edge.address());
        self.mesh.grpc = edge.grpc_address();
        edge.serve();
        Ok(())
    }

    /// Makes a role reachable: for the roles of this process as a value, for the others on its port.
    async fn offer(&mut self, role: Role, routes: Routes, env: &Env) -> Result<(), String> {
        if self.plan.apart {
            let (listener, address) = serve::bind(listen_at(&self.plan.settings.listen, role)).await?;
            self.mesh.addresses.insert(role, address);
            let (routes, serving, broken) = (routes.clone(), env.clone(), self.mesh.broken.clone());
            env.spawn(async move {
                if let Err(error) = serve::grpc(listener, routes, &serving).await {
                    tracing::error!(%role, %error, "the listener broke");
                    broken.cancel();
                }
            });
        }
        self.here.insert(role, peer::local(routes));
        Ok(())
    }

    /// How `caller` reaches `callee`. Only what stands in the table of [`crate::roles`] can be reached.
    fn upstream(&self, caller: Role, callee: Role) -> Result<Peer, String> {
        if !caller.callees().contains(&callee) {
            return Err(format!("{caller} may not call {callee}"));
        }
        match self.here.get(&callee) {
            Some(peer) => Ok(peer.clone()),
            None => peer::remote(reached_at(&self.plan.settings.peers, callee)),
        }
    }

    /// Ends the process with an error when `failed` fires.
    fn end_when(&self, failed: CancellationToken, why: &'static str) {
        let broken = self.mesh.broken.clone();
        let stop = self.mesh.env.stop().clone();
        self.mesh.env.spawn(async move {
            tokio::select! {
                () = failed.cancelled() => {
                    tracing::error!("{why}");
                    broken.cancel();
                }
                () = stop.cancelled() => {}
            }
        });
    }
}

fn listen_at(listen: &Listen, role: Role) -> &str {
    match role {
        Role::Signer => &listen.signer,
        Role::Journal => &listen.journal,
        Role::Catalog => &listen.catalog,
        Role::Tasks => &listen.tasks,
        Role::Negotiator => &listen.negotiator,
        Role::ExecutorBridge => &listen.executor_bridge,
        // The edge speaks HTTP and has an address of its own in `[edge]`.
        Role::Edge => "",
    }
}

fn reached_at(peers: &Peers, role: Role) -> &str {
    match role {
        Role::Signer => &peers.signer,
        Role::Journal => &peers.journal,
        Role::Catalog => &peers.catalog,
        Role::Tasks => &peers.tasks,
        Role::Negotiator => &peers.negotiator,
        Role::ExecutorBridge => &peers.executor_bridge,
        // Nobody calls the edge.
        Role::Edge => "",
    }
}
