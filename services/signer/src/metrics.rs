//! How many seals were made, accepted and refused.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use weft_chassis::Env;

/// Counters of one signer.
#[derive(Clone, Default)]
pub(crate) struct Metrics {
    /// Calls sealed.
    pub(crate) made: Counter,
    /// Seals found good.
    pub(crate) accepted: Counter,
    /// Agent cards signed.
    pub(crate) cards: Counter,
    refused: Family<Refused, Counter>,
    not_let_in: Family<Refused, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    code: &'static str,
}

impl Metrics {
    /// Counters that show up in the mesh's metrics.
    pub(crate) fn registered(env: &Env) -> Self {
        let metrics = Self::default();
        env.metrics().register(|registry| {
            let signer = registry.sub_registry_with_prefix("weft_signer");
            signer.register("seals_made", "Calls sealed", metrics.made.clone());
            signer.register("cards_signed", "Agent cards signed", metrics.cards.clone());
            signer.register("seals_accepted", "Seals found good", metrics.accepted.clone());
            signer.register("seals_refused", "Seals refused, by reason", metrics.refused.clone());
            signer.register(
                "authentications_failed",
                "Calls whose credentials were not accepted, by reason",
                metrics.not_let_in.clone(),
            );
        });
        metrics
    }

    pub(crate) fn refused(&self, code: &'static str) {
        self.refused.get_or_create(&Refused { code }).inc();
    }

    pub(crate) fn not_let_in(&self, code: &'static str) {
        self.not_let_in.get_or_create(&Refused { code }).inc();
    }
}
