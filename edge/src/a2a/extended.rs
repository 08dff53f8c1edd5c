//! GetExtendedAgentCard: what a caller may know beyond the public card.

use weft_core::{Fault, Kind};
use weft_proto::a2a::AgentCard;

use super::Scope;
use crate::access::{Standing, required};

/// Answers the agent's extended card, where it is only for those who say who they are: to those.
pub(super) fn card(scope: &Scope<'_>) -> Result<AgentCard, Fault> {
    let named = scope.edge.settings().extended_card == "authenticated";
    if named && scope.caller.who.standing == Standing::Anonymous {
        return Err(required("credentials are needed to read the extended agent card"));
    }
    scope.agent()?.extended.clone().ok_or_else(|| {
        let text = "there is no extended agent card (edge.extended_card): the public one is all";
        Fault::new(Kind::ExtendedAgentCardNotConfigured, text)
    })
}
