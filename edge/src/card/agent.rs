//! One agent of the mesh as the edge serves it: what it can be asked, and its cards, made once a change.

use std::net::SocketAddr;
use std::sync::Arc;

use weft_chassis::Peer;
use weft_core::card::{self, Faces, Public};
use weft_core::route::Index;
use weft_proto::a2a::{AgentCard, AgentExtension};
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::{AccessPolicy, Snapshot};
use weft_proto::wkt::Timestamp;

use super::sign::{Signed, Signing};
use super::{Served, legacy};
use crate::Settings;
use crate::edge::Refused;

/// One agent: the mesh itself, or a node as a tenant.
pub(crate) struct Agent {
    /// Which of its skills a message goes to.
    pub(crate) index: Arc<Index>,
    /// What a caller that may know more reads; `None` when there is no extended card.
    pub(crate) extended: Option<AgentCard>,
    /// What the card declares; callers must activate those that are required.
    pub(crate) extensions: Vec<AgentExtension>,
    /// The public card, as it is served.
    pub(super) card: Served,
    /// The same for clients of A2A v0.3; `None` when that is not spoken.
    pub(super) legacy: Option<Served>,
    /// The cards behind: the public one, and the extended one when there is one.
    signed: [Option<Signed>; 2],
}

/// What the cards of this edge are made with, beside the catalog.
pub(crate) struct Publisher {
    /// How the mesh is reached.
    pub(crate) public: Public,
    /// What it serves.
    pub(crate) faces: Faces,
    /// Signs the cards, or does not.
    pub(crate) signing: Signing,
}

/// What a card is made under, beside its declarations.
pub(crate) struct Made<'a> {
    /// Says on every card what callers need.
    pub(crate) policy: &'a AccessPolicy,
    /// When a card that is not as before is said to have changed.
    pub(crate) changed: Timestamp,
    /// Signatures are made again, whatever is as before.
    pub(crate) resign: bool,
}

// === impl Agent ===

impl Agent {
    /// True when every card that should be signed is.
    pub(crate) fn is_signed(&self) -> bool {
        self.signed.iter().flatten().all(|signed| signed.complete)
    }
}

// === impl Publisher ===

impl Publisher {
    /// Reads what the cards say from the settings. `grpc` is where gRPC has a listener of its own.
    ///
    /// # Errors
    /// Names the setting that cannot be obeyed.
    pub(crate) fn new(
        settings: &Settings,
        public: Public,
        grpc: Option<SocketAddr>,
        signer: SignerClient<Peer>,
    ) -> Result<Publisher, Refused> {
        let extended_card = match settings.extended_card.as_str() {
            "off" => false,
            "open" | "authenticated" => true,
            other => {
                let text = format!("edge.extended_card is {other}: must be off, authenticated or open");
                return Err(Refused(text));
            }
        };
        let pinned = !settings.public_url.is_empty();
        let signing = if settings.sign_cards && pinned {
            Signing::By { signer, jku: public.jwks_url() }
        } else {
            Signing::Off
        };
        let faces = Faces {
            streaming: settings.streaming,
            push_notifications: settings.push_notifications,
            extended_card,
            grpc: grpc_at(&public, pinned, grpc),
            v03: settings.legacy_v03,
            legacy_card: settings.legacy_card,
        };
        Ok(Publisher { public, faces, signing })
    }

    /// Makes the agent `tenant` (empty: the mesh) from its view of the catalog. What is as it was before is kept.
    pub(crate) async fn agent(
        &self,
        tenant: &str,
        view: &Snapshot,
        before: Option<&Agent>,
        made: &Made<'_>,
    ) -> Agent {
        let index = match before.filter(|b| b.index.capabilities() == view.capabilities) {
            Some(before) => Arc::clone(&before.index),
            None => Arc::new(Index::new(view.capabilities.clone()).within(tenant)),
        };
        let public = AgentCard {
            security_schemes: made.policy.schemes.clone(),
            security_requirements: made.policy.requirements.clone(),
            ..card::project(view, tenant, &self.public, &self.faces)
        };
        let extended = self.faces.extended_card.then(|| card::extend(&public, view, &self.public));
        let was = |nth: usize| before.and_then(|b| b.signed[nth].as_ref());
        let extended = match extended {
            Some(card) => Some(self.signing.sign(card, was(1), made.resign).await),
            None => None,
        };
        let public = self.signing.sign(public, was(0), made.resign).await;
        let serve = |legacy: bool, before: Option<&Served>| {
            let card = Served::new(legacy::bytes(&public.card, legacy), made.changed);
            before.filter(|before| before.same_as(&card)).cloned().unwrap_or(card)
        };
        Agent {
            index,
            card: serve(self.faces.legacy_card, before.map(|b| &b.card)),
            legacy: self.faces.v03.then(|| serve(true, before.and_then(|b| b.legacy.as_ref()))),
            extended: extended.as_ref().map(|signed| signed.card.clone()),
            extensions: public.card.capabilities.clone().unwrap_or_default().extensions,
            signed: [Some(public), extended],
        }
    }
}

/// Where callers reach gRPC, which knows no paths: behind a public URL with a path stands a proxy that sorts by path, so
/// that gRPC has an address there only when it has a listener of its own.
fn grpc_at(public: &Public, pinned: bool, apart: Option<SocketAddr>) -> Option<String> {
    let authority = public.authority()?;
    match apart {
        Some(listener) => {
            let (host, _) = authority.rsplit_once(':')?;
            Some(format!("{host}:{}", listener.port()))
        }
        None => {
            let path = public.base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
            (!pinned || !path).then_some(authority)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_is_named_where_it_can_be_reached_and_nowhere_else() {
        let at = |base: &str, pinned: bool, port: Option<u16>| {
            let public = Public { base: base.into(), warnings: vec![] };
            grpc_at(&public, pinned, port.map(|port| SocketAddr::from(([0, 0, 0, 0], port))))
        };
        assert_eq!(at("http://127.0.0.1:8420", false, None).as_deref(), Some("127.0.0.1:8420"));
        assert_eq!(at("http://127.0.0.1:8420/mesh", false, None).as_deref(), Some("127.0.0.1:8420"));
        assert_eq!(at("https://mesh.example", true, None).as_deref(), Some("mesh.example:443"));
        assert_eq!(at("https://mesh.example/x", true, None), None);
        assert_eq!(at("https://mesh.example/x", true, Some(9)).as_deref(), Some("mesh.example:9"));
        assert_eq!(at("http://[::1]:8420", false, Some(9)).as_deref(), Some("[::1]:9"));
    }
}
