//! Asks the signer for the signatures of a card (A2A v1.0 §8.4). Only a card whose address the operator pinned is
//! signed: a signature on a guessed address would vouch for what nobody said.

use std::time::Duration;

use weft_chassis::Peer;
use weft_proto::a2a::AgentCard;
use weft_proto::weft::SignCardRequest;
use weft_proto::weft::signer_client::SignerClient;

use crate::upstreams::bounded;

/// How long the signer may take for one card.
const WITHIN: Duration = Duration::from_secs(2);

/// Signs cards, or leaves them as they are.
pub(crate) enum Signing {
    /// Cards are served without signatures.
    Off,
    /// By this signer; verifiers find its keys at `jku`.
    By {
        /// Holds the keys.
        signer: SignerClient<Peer>,
        /// URL of the key set.
        jku: String,
    },
}

/// A card and what became of it.
#[derive(Clone)]
pub(super) struct Signed {
    /// As it was projected: by it one sees whether anything changed.
    unsigned: AgentCard,
    /// As it is served.
    pub(super) card: AgentCard,
    /// False when the signer was asked and did not answer: it is to be asked again.
    pub(super) complete: bool,
}

// === impl Signing ===

impl Signing {
    /// True when cards are signed.
    pub(crate) fn is_on(&self) -> bool {
        matches!(self, Signing::By { .. })
    }

    /// The card with its signatures. The one before is kept when the card is the same, unless `again`.
    pub(super) async fn sign(&self, card: AgentCard, before: Option<&Signed>, again: bool) -> Signed {
        let same = before.filter(|before| before.unsigned == card);
        let Signing::By { signer, jku } = self else {
            return Signed { unsigned: card.clone(), card, complete: true };
        };
        if let Some(before) = same.filter(|before| before.complete && !again) {
            return before.clone();
        }
        let request = SignCardRequest { card: Some(card.clone()), jku: jku.clone() };
        match bounded(WITHIN, signer.clone().sign_card(request)).await {
            Ok(answer) => {
                let signed = AgentCard { signatures: answer.signatures, ..card.clone() };
                Signed { unsigned: card, card: signed, complete: true }
            }
            Err(fault) => {
                tracing::warn!(error = fault.message, "an agent card could not be signed: it is tried again");
                // Signatures that were right for this card still are.
                let kept = same.map_or_else(|| card.clone(), |before| before.card.clone());
                Signed { unsigned: card, card: kept, complete: false }
            }
        }
    }
}
