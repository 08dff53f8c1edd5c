//! [`Client`]: connections, limits and credentials; from an address to an [`Agent`].

use std::sync::Arc;

use bytes::Bytes;
use weft_chassis::Outbound;
use weft_seal::card::Pins;

use crate::agent::Agent;
use crate::binding::{self, Binding};
use crate::card::{self, Card, Cards};
use crate::credentials::{Credentials, Origins, origin};
use crate::error::{Error, Why};
use crate::http::Http;
use crate::limits::Limits;
use crate::trust::Sets;
use crate::wire::Wire;

/// How a client behaves.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Bounds.
    pub limits: Limits,
    /// What proves who calls; unset: nothing.
    pub credentials: Option<Credentials>,
    /// Where they may go besides the origin of the agent's card.
    pub origins: Origins,
    /// Whose signatures of cards count; by default nobody's.
    pub pins: Pins,
    /// Whose certificates are believed, what is shown of ourselves, and the proxy.
    pub outbound: Outbound,
}

/// Finds agents. A clone shares connections and cards.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    origins: Origins,
}

/// What every agent of a client uses.
pub(crate) struct Shared {
    pub(crate) http: Http,
    pub(crate) limits: Limits,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) cards: Cards,
    pub(crate) pins: Pins,
    pub(crate) sets: Sets,
}

impl Client {
    /// A client.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(options: Options) -> Result<Client, Error> {
        let http = Http::new(&options.outbound, options.limits.connect)?;
        let cards = Cards::new(options.limits.cards_max);
        let Options { limits, credentials, origins, pins, outbound: _ } = options;
        Ok(Client {
            shared: Arc::new(Shared { http, limits, credentials, cards, pins, sets: Sets::new() }),
            origins,
        })
    }

    /// The card of the agent at `url`: its base address, or the address of the card itself, which ends in `.json`.
    /// Asked for again with each call; an unchanged card is not sent again by agents that give it an ETag.
    ///
    /// # Errors
    /// When there is none, or it is over its limit, or no card.
    pub async fn card(&self, url: &str) -> Result<Arc<Card>, Error> {
        self.shared.cards.get(&self.shared, url).await
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// A public document, such as a key set; with the bounds of a card, and like a card without credentials.
    ///
    /// # Errors
    /// When there is none, or it is over its limit.
    pub async fn document(&self, url: &str) -> Result<Bytes, Error> {
        Ok(card::document(&self.shared, url).await?)
    }

    /// The agent at `url`, spoken to over the first of the bindings in `prefer` that it has, or over the one its card
    /// puts first when `prefer` is empty.
    ///
    /// # Errors
    /// As [`Client::card`] and [`Client::connect`].
    pub async fn agent(&self, url: &str, prefer: &[Binding]) -> Result<Agent, Error> {
        let card = self.card(url).await?;
        self.connect(card, prefer)
    }

    /// The agent of a card; no call is made.
    ///
    /// # Errors
    /// When no interface can be spoken, or none that the credentials may go to.
    pub fn connect(&self, card: Arc<Card>, prefer: &[Binding]) -> Result<Agent, Error> {
        let interfaces = binding::interfaces(&card.card, &card.url);
        let allowed =
            |interface: &binding::Interface| self.origins.allow_credentials(&card.url, &interface.url);
        let secret = self.shared.credentials.is_some();
        let usable = |interface: &binding::Interface| !secret || allowed(interface);
        match binding::choose(&interfaces, prefer, usable) {
            Some(interface) => {
                let trusted = allowed(interface);
                let wire = Wire::new(self.shared.clone(), interface.clone(), card.files, trusted);
                Ok(Agent::new(card, wire))
            }
            None => Err(self.why_not(&card, &interfaces, prefer).into()),
        }
    }

    fn why_not(&self, card: &Card, interfaces: &[binding::Interface], prefer: &[Binding]) -> Why {
        if let Some(foreign) = binding::choose(interfaces, prefer, |_| true) {
            return Why::ForeignOrigin { card: origin(&card.url), interface: origin(&foreign.url) };
        }
        let offers = &card.card.supported_interfaces;
        let offered: Vec<_> =
            offers.iter().map(|i| format!("{} {}", i.protocol_binding, i.protocol_version)).collect();
        let wanted: Vec<_> = prefer.iter().map(|binding| binding.as_str()).collect();
        let wanted = if wanted.is_empty() { "any binding".to_owned() } else { wanted.join(" or ") };
        let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
        Why::NoInterface(format!("wanted is {wanted}, its card offers {offered}"))
    }
}
