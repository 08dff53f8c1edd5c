//! The operations of A2A v1.0 §3.1, free of any binding: typed request and caller in, typed answer, stream or fault out.
//!
//! Every binding goes through here, so that all of them behave alike.

mod cancel;
mod events;
mod get;
mod list;
mod send;
mod subscribe;

pub(crate) use cancel::cancel;
pub(crate) use events::Events;
pub(crate) use get::get;
pub(crate) use list::list;
pub(crate) use send::{keep_history, send, stream};
pub(crate) use subscribe::subscribe;
use weft_core::{Fault, Kind};

/// What every push configuration operation answers.
pub(crate) fn push_not_supported() -> Fault {
    weft_core::message::no_push()
}

/// What the extended card operation answers.
pub(crate) fn no_extended_card() -> Fault {
    let text = "there is no extended agent card: the public one at /.well-known/agent-card.json is all";
    Fault::new(Kind::ExtendedAgentCardNotConfigured, text)
}
