//! The gRPC service: checks its input, seals, opens, and tells nobody why it refused but its own log.

use std::path::Path;
use std::sync::Arc;

use http::HeaderValue;
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use weft_chassis::Env;
use weft_chassis::status::status;
use weft_core::Fault;
use weft_proto::a2a::AgentCardSignature;
use weft_proto::json;
use weft_proto::weft as pb;
use weft_proto::weft::AuditEvent;
use weft_proto::weft::audit_event::Outcome;
use weft_proto::weft::signer_server::{self, SignerServer};
use weft_seal::card::{CardSignature, key_set};
use weft_seal::{Call, CallFault, Nonces, PublicKey, Verifier};

use crate::access::Access;
use crate::audit::{Audit, Limits};
use crate::cards::Cards;
use crate::keyring::Keyring;
use crate::metrics::Metrics;
use crate::seals::{Bad, Seals, sha256};
use crate::wrap::Wrapping;
use crate::{OpenFault, Settings};

/// Longest URL of a key set.
const JKU_CHARS_MAX: usize = 2_048;

/// One mesh's signer. Cheap to clone.
#[derive(Clone)]
pub struct Signer {
    shared: Arc<Shared>,
}

struct Shared {
    env: Env,
    keyring: Keyring,
    wrapping: Wrapping,
    seals: Arc<Seals>,
    access: Access,
    audit: Audit,
    metrics: Metrics,
    cards: Cards,
    started: i64,
}

impl Signer {
    /// Opens the keys under `<data>/keys`, making the mesh's key at the first start, and the access file. Reads files;
    /// blocks shortly. Needs the runtime: the access file is followed from now on.
    ///
    /// # Errors
    /// When a key file is too open, damaged, misnamed or cannot be read or written, or the access file is wrong.
    pub fn open(settings: &Settings, data: &Path, env: &Env) -> Result<Self, OpenFault> {
        let mut keyring = Keyring::open(data, &settings.mesh, env)?;
        let wrapping = Wrapping::open(data, env)?;
        let started = seconds(env);
        let capacity = usize::try_from(settings.nonces_max).unwrap_or(usize::MAX);
        let nonces = Arc::new(Nonces::new(settings.window(), capacity, started));
        let verifier = Verifier::new(&settings.mesh, keyring.take_trust(), nonces);
        let cards = Cards::open(data, settings.card_key_rotate_days, settings.card_key_overlap_days, env)?;
        let metrics = Metrics::registered(env);
        let seals = Arc::new(Seals { verifier, metrics: metrics.clone(), env: env.clone() });
        let audit = Audit::open(data, Limits::of(settings), env);
        let access =
            Access::open(settings, data, seals.clone(), audit.clone(), env).map_err(OpenFault::Access)?;
        let shared =
            Shared { env: env.clone(), keyring, wrapping, seals, access, audit, metrics, cards, started };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The services, for [`weft_chassis::peer::local`] or [`weft_chassis::serve`].
    pub fn routes(&self) -> Routes {
        let routes = Routes::new(SignerServer::new(self.clone()));
        self.shared.audit.add_to(self.shared.access.add_to(routes))
    }

    /// The key that nodes must trust, for nodes hosted in this process. Others get it as a JWK by configuration.
    pub fn public_key(&self) -> PublicKey {
        self.shared.keyring.public()
    }

    /// Since when this signer makes seals, Unix seconds: a node in the same process remembers nonces from then on.
    pub fn started(&self) -> i64 {
        self.shared.started
    }

    fn seal(&self, request: &pb::SignRequest) -> Result<Vec<pb::Header>, Fault> {
        let shared = &*self.shared;
        let hop: Vec<_> = request.covered.iter().map(|h| (h.name.as_str(), h.value.as_str())).collect();
        let call = Call {
            method: &request.method,
            target_uri: &request.target_uri,
            body_sha256: sha256(&request.body_sha256)?,
            audience: &request.audience,
            scope: &request.scope,
            hop: &hop,
        };
        let mut nonce = [0; 16];
        shared.env.fill(&mut nonce);
        // A receiver that started in the same second as we refuses that second (see `Nonces`): stamp the next one.
        let created = seconds(&shared.env).max(shared.started.saturating_add(1));
        let key = shared.keyring.for_node(&request.audience);
        let headers = weft_seal::seal(key, &call, created, &nonce).map_err(|bad| invalid(request, &bad))?;
        shared.metrics.made.inc();
        let text = |value: &HeaderValue| value.to_str().map(str::to_owned);
        headers
            .into_iter()
            .map(|(name, value)| Ok(pb::Header { name: name.as_str().to_owned(), value: text(&value)? }))
            .collect::<Result<_, http::header::ToStrError>>()
            .map_err(|_| Fault::internal("a header of the seal is not text"))
    }

    fn sign_card_of(&self, request: pb::SignCardRequest) -> Result<Vec<AgentCardSignature>, Fault> {
        let shared = &*self.shared;
        let card = request.card.ok_or_else(|| Fault::invalid("card", "is required"))?;
        let web = request.jku.starts_with("https://") || request.jku.starts_with("http://");
        if !web || request.jku.len() > JKU_CHARS_MAX || !request.jku.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Fault::invalid("jku", "must be an absolute http(s) URL"));
        }
        let bad = |problem: String| Fault::invalid("card", problem);
        let json = json::encode(&card).map_err(|fault| bad(fault.to_string()))?;
        let json = serde_json::from_slice(&json).map_err(|fault| bad(fault.to_string()))?;
        let signatures =
            shared.cards.sign(&json, &request.jku, &shared.env).map_err(|fault| bad(fault.to_string()))?;
        shared.metrics.cards.inc();
        let signed = |s: CardSignature| AgentCardSignature {
            protected: s.protected,
            signature: s.signature,
            header: None,
        };
        Ok(signatures.into_iter().map(signed).collect())
    }

    fn key_set(&self) -> String {
        let shared = &*self.shared;
        key_set([&shared.keyring.public()], &shared.cards.public(&shared.env)).to_string()
    }

    fn check(&self, request: &pb::VerifyRequest) -> Result<pb::VerifyResponse, Fault> {
        let checked = self.shared.seals.check(request);
        if let Err(Bad::Seal(fault)) = &checked {
            let event = AuditEvent {
                action: "verify".to_owned(),
                outcome: Outcome::Denied.into(),
                reason: fault.code().to_owned(),
                ..AuditEvent::default()
            };
            if self.shared.audit.failed(event) {
                tracing::warn!(code = fault.code(), reason = %fault, "refused the seal of an incoming call");
            }
        }
        let good = checked.map_err(Bad::fault)?;
        Ok(pb::VerifyResponse { key_id: good.key_id, scope: good.scope })
    }
}

#[tonic::async_trait]
impl signer_server::Signer for Signer {
    async fn sign(&self, request: Request<pb::SignRequest>) -> Result<Response<pb::SignResponse>, Status> {
        let headers = self.seal(request.get_ref()).map_err(status)?;
        Ok(Response::new(pb::SignResponse { headers }))
    }

    async fn verify(
        &self,
        request: Request<pb::VerifyRequest>,
    ) -> Result<Response<pb::VerifyResponse>, Status> {
        self.check(request.get_ref()).map(Response::new).map_err(status)
    }

    async fn jwks(&self, _request: Request<pb::JwksRequest>) -> Result<Response<pb::JwksResponse>, Status> {
        Ok(Response::new(pb::JwksResponse { json: self.key_set() }))
    }

    async fn wrap(&self, request: Request<pb::WrapRequest>) -> Result<Response<pb::WrapResponse>, Status> {
        let request = request.get_ref();
        let wrapped = self.shared.wrapping.wrap(&request.secret, &request.context, &self.shared.env);
        Ok(Response::new(pb::WrapResponse { wrapped: wrapped.map_err(status)? }))
    }

    async fn unwrap(
        &self,
        request: Request<pb::UnwrapRequest>,
    ) -> Result<Response<pb::UnwrapResponse>, Status> {
        let request = request.get_ref();
        let secret = self.shared.wrapping.unwrap(&request.wrapped, &request.context);
        Ok(Response::new(pb::UnwrapResponse { secret: secret.map_err(status)? }))
    }

    async fn sign_card(
        &self,
        request: Request<pb::SignCardRequest>,
    ) -> Result<Response<pb::SignCardResponse>, Status> {
        let signatures = self.sign_card_of(request.into_inner()).map_err(status)?;
        Ok(Response::new(pb::SignCardResponse { signatures }))
    }
}

fn seconds(env: &Env) -> i64 {
    env.now().seconds
}

/// Names the field as the request has it.
fn invalid(request: &pb::SignRequest, bad: &CallFault) -> Fault {
    let field = match bad.field.as_str() {
        known @ ("method" | "audience" | "scope") => known.to_owned(),
        "target_uri" => "targetUri".to_owned(),
        // The last one of that name: of two, the second is one too many.
        name => match request.covered.iter().rposition(|header| header.name == name) {
            Some(index) => format!("covered[{index}]"),
            None => "covered".to_owned(),
        },
    };
    Fault::invalid(field, bad.problem)
}
