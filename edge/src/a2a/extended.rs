//! GetExtendedAgentCard: what a caller may know beyond the public card.

use weft_core::{Fault, Kind};
use weft_proto::a2a::AgentCard;

use super::Scope;

/// Answers the agent's extended card.
pub(super) fn card(scope: &Scope<'_>) -> Result<AgentCard, Fault> {
    scope.agent()?.extended.clone().ok_or_else(|| {
        let text = "there is no extended agent card (edge.extended_card): the public one is all";
        Fault::new(Kind::ExtendedAgentCardNotConfigured, text)
    })
}
