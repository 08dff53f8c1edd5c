//! From the manifest to an agent whose card is checked.

use std::sync::Arc;

use weft_chassis::Env;
use weft_client::{Agent as Reached, Binding, Card, Client, Interface, Limits, Options, Signature};
use weft_core::card::MESH_EXTENSION;
use weft_core::manifest::agent::{Agent, Binding as Declared, CardKey};
use weft_seal::card::{CardPublicKey, Pins};

use super::{Book, Remote, Trouble, Turn};
use crate::failure::Failure;
use crate::source::Misfit;

/// How often in a row a cut stream is taken up again before it is said that the agent is away.
const ATTEMPTS_MAX: u32 = 3;

impl Remote {
    /// The agent of a manifest; no call is made.
    ///
    /// # Errors
    /// The key within `agent` that cannot be used.
    pub(crate) fn new(spec: &Agent, book: Book, env: Env) -> Result<Remote, Misfit> {
        let limits = Limits { attempts_max: ATTEMPTS_MAX, answer: spec.timeout, ..Limits::default() };
        let (pins, outbound) = (pins(&spec.card_keys)?, env.outbound().clone());
        let options = Options { limits, pins, outbound, ..Options::default() };
        let client = Client::new(options).map_err(|error| Misfit {
            key: "url",
            value: format!("\"{}\"", spec.url),
            remedy: error.to_string(),
        })?;
        let Book { memory, gates } = book;
        Ok(Remote { spec: spec.clone(), client, memory, gates, env })
    }

    /// Fetches the card, unless it is unchanged, and chooses how the agent is spoken to.
    pub(super) async fn connect(&self, begun: bool) -> Result<Reached, Trouble> {
        let trouble = |error| Trouble::of(&error, begun);
        let card = self.client.card(&self.spec.url).await.map_err(trouble)?;
        self.check_signature(&card).await?;
        let mut card = self.reduced(&card)?;
        if let Some(tenant) = &self.spec.tenant {
            card.card.supported_interfaces.iter_mut().for_each(|one| one.tenant.clone_from(tenant));
        }
        let prefer: Vec<Binding> = self.spec.binding.map(binding).into_iter().collect();
        self.client.connect(Arc::new(card), &prefer).map_err(trouble)
    }

    /// The card without the interfaces that lie where no operator meant to call.
    fn reduced(&self, card: &Card) -> Result<Card, Failure> {
        let (mut one, mut meant) = (card.clone(), Vec::new());
        let mut foreign = None;
        for interface in &card.card.supported_interfaces {
            one.card.supported_interfaces = vec![interface.clone()];
            match self.client.connect(Arc::new(one.clone()), &[]) {
                Ok(reached) if !self.is_meant(reached.interface(), card) => {
                    foreign = Some(reached.interface().url.origin().ascii_serialization());
                }
                // What is not spoken here is passed over when one is chosen.
                Ok(_) | Err(_) => meant.push(interface.clone()),
            }
        }
        if let (true, Some(origin)) = (meant.is_empty(), foreign) {
            tracing::warn!(origin, "the card of a remote agent sends callers to another host");
            let text = "its card sends callers to another host than that of agent.url: add the origin to \
                        agent.origins when it is right";
            return Err(Failure::Agent { code: "AGENT_UNUSABLE", text: text.to_owned() });
        }
        one.card.supported_interfaces = meant;
        Ok(one)
    }

    /// An operator named the host, or the origin. What a card says alone is no reason to call an address: it could be
    /// one inside the operator's network.
    fn is_meant(&self, interface: &Interface, card: &Card) -> bool {
        let origin = interface.url.origin().ascii_serialization();
        let named = |allowed: &String| allowed.trim_end_matches('/').eq_ignore_ascii_case(&origin);
        interface.url.host_str() == card.url.host_str() || self.spec.origins.iter().any(named)
    }

    async fn check_signature(&self, card: &Card) -> Result<(), Failure> {
        if self.spec.card_keys.is_empty() {
            return Ok(());
        }
        let why = match self.client.verify(card).await {
            Signature::Verified { .. } => return Ok(()),
            Signature::Unsigned => "it bears no signature".to_owned(),
            Signature::Failed(why) => why,
        };
        let text = format!("its card is not signed with one of agent.card_keys: {why}");
        Err(Failure::Agent { code: "CARD_UNTRUSTED", text })
    }

    /// A skill that the card does not list is no skill to ask for.
    pub(super) fn check_skill(&self, agent: &Reached, turn: &Turn) -> Result<(), Failure> {
        let Some(wanted) = &turn.skill else { return Ok(()) };
        let skills = &agent.card().card.skills;
        if skills.iter().any(|skill| skill.id == *wanted) {
            return Ok(());
        }
        let known: Vec<&str> = skills.iter().map(|skill| skill.id.as_str()).take(20).collect();
        let text = format!("its card lists no skill {wanted}; it lists {}", known.join(", "));
        Err(Failure::Agent { code: "UNKNOWN_SKILL", text })
    }
}

/// True for an agent that gives the same task to the same idempotency key.
pub(super) fn keeps_keys(agent: &Reached) -> bool {
    let extensions = agent.card().card.capabilities.iter().flat_map(|can| &can.extensions);
    extensions.into_iter().any(|extension| extension.uri == MESH_EXTENSION)
}

fn binding(declared: Declared) -> Binding {
    match declared {
        Declared::JsonRpc => Binding::JsonRpc,
        Declared::Rest => Binding::Rest,
        Declared::Grpc => Binding::Grpc,
    }
}

fn pins(keys: &[CardKey]) -> Result<Pins, Misfit> {
    let mut pins = Pins::default();
    for key in keys {
        let (text, read) = match key {
            CardKey::Jwk(text) => (text, jwk(text).map(|key| pins.pin(key))),
            CardKey::At(origin) => (origin, pins.allow(origin).map_err(|fault| fault.to_string())),
        };
        read.map_err(|remedy| Misfit { key: "card_keys", value: format!("\"{text}\""), remedy })?;
    }
    Ok(pins)
}

fn jwk(text: &str) -> Result<CardPublicKey, String> {
    let jwk = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let key = CardPublicKey::parse(&jwk).map_err(|fault| fault.to_string())?;
    key.ok_or_else(|| "must be an Ed25519 or a P-256 key".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_check_nothing_are_found_out_when_the_manifest_is_read() {
        let at = |origin: &str| CardKey::At(origin.into());
        assert!(pins(&[at("https://keys.example"), at("http://127.0.0.1:8420")]).is_ok());
        let plain = pins(&[at("http://keys.example")]).unwrap_err();
        assert_eq!(plain.key, "card_keys", "a key set must come over TLS: {}", plain.remedy);
        for jwk in [r#"{"kty":"RSA","n":"AQAB"}"#, r#"{"kty":"OKP","crv":"Ed25519","x":"short"}"#] {
            assert_eq!(pins(&[CardKey::Jwk(jwk.into())]).unwrap_err().key, "card_keys", "{jwk}");
        }
    }
}
