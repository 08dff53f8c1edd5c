//! An agent's card: fetched with bounds, cached by its ETag, kept with the fields nobody knows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use weft_proto::a2a::AgentCard;

use crate::client::Shared;
use crate::credentials::web;
use crate::error::{Error, Why};
use crate::fault::{self, About};
use crate::http::{Outgoing, Url, read};
use crate::legacy::Files;
use crate::operation::Answered;

/// Where a card lies, newest place first.
const WELL_KNOWN: [&str; 2] = [".well-known/agent-card.json", ".well-known/agent.json"];

/// An agent's card.
#[derive(Debug, Clone)]
pub struct Card {
    /// What version 1.0 of A2A knows of it; a card of version 0.3 is converted.
    pub card: AgentCard,
    /// All of it, as the agent wrote it; signatures hold for this.
    pub raw: Value,
    /// Where it was found.
    pub url: Url,
    /// How the agent writes files, should it speak version 0.3.
    pub(crate) files: Files,
    etag: Option<HeaderValue>,
}

/// Cards that were fetched, the latest used last.
pub(crate) struct Cards {
    known: Mutex<VecDeque<Arc<Card>>>,
    max: usize,
}

impl Cards {
    pub(crate) fn new(max: usize) -> Cards {
        Cards { known: Mutex::default(), max }
    }

    /// The card at `url`, or at one of the known places under it.
    pub(crate) async fn get(&self, shared: &Shared, url: &str) -> Result<Arc<Card>, Error> {
        let base = web(url).ok_or_else(|| Why::Unusable(format!("{url} is no http or https address")))?;
        let places = if base.path().ends_with(".json") { vec![base] } else { under(&base) };
        let mut refused = None;
        for place in places {
            match self.at(shared, place).await {
                // Only an agent that is there and has no card in one place may have it in another.
                Err(why) if is_absent(&why) => refused = refused.or(Some(why)),
                got => return Ok(got?),
            }
        }
        Err(refused.unwrap_or_else(|| Why::Unusable(format!("{url} has no path"))).into())
    }

    async fn at(&self, shared: &Shared, url: Url) -> Result<Arc<Card>, Why> {
        let within = shared.limits.card;
        let fetched = tokio::time::timeout(within, self.fetch(shared, url)).await;
        fetched.unwrap_or_else(|_| Err(Why::TimedOut(format!("no card within {} ms", within.as_millis()))))
    }

    async fn fetch(&self, shared: &Shared, url: Url) -> Result<Arc<Card>, Why> {
        let known = self.known(&url);
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, application/a2a+json"));
        if let Some(etag) = known.as_ref().and_then(|card| card.etag.clone()) {
            headers.insert(header::IF_NONE_MATCH, etag);
        }
        let outgoing = Outgoing { method: Method::GET, url: url.clone(), headers, body: Bytes::new() };
        let response = shared.http.exchange(outgoing).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        if let (StatusCode::NOT_MODIFIED, Some(card)) = (status, known) {
            return Ok(card);
        }
        let body = read(response, "the card", shared.limits.card_bytes_max).await?;
        if !status.is_success() {
            return Err(fault::of_http(status, &headers, &body, About::Card));
        }
        let card = Arc::new(parse(&body, url, &headers)?);
        self.keep(card.clone());
        Ok(card)
    }

    fn known(&self, url: &Url) -> Option<Arc<Card>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|card| card.url == *url).cloned()
    }

    fn keep(&self, card: Arc<Card>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| other.url != card.url);
        if card.etag.is_some() {
            known.push_back(card);
        }
        while known.len() > self.max {
            known.pop_front();
        }
    }
}

/// A public document that is no card.
pub(crate) async fn document(shared: &Shared, url: &str) -> Result<Bytes, Why> {
    let url = web(url).ok_or_else(|| Why::Unusable(format!("{url} is no http or https address")))?;
    let within = shared.limits.card;
    let fetched = tokio::time::timeout(within, async {
        let outgoing = Outgoing { method: Method::GET, url, headers: HeaderMap::new(), body: Bytes::new() };
        let response = shared.http.exchange(outgoing).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read(response, "the document", shared.limits.card_bytes_max).await?;
        if status.is_success() { Ok(body) } else { Err(fault::of_http(status, &headers, &body, About::Card)) }
    });
    fetched
        .await
        .unwrap_or_else(|_| Err(Why::TimedOut(format!("no document within {} ms", within.as_millis()))))
}

fn under(base: &Url) -> Vec<Url> {
    let mut base = base.clone();
    if !base.path().ends_with('/') {
        base.set_path(&format!("{}/", base.path()));
    }
    base.set_query(None);
    WELL_KNOWN.iter().filter_map(|place| base.join(place).ok()).collect()
}

fn is_absent(why: &Why) -> bool {
    matches!(why, Why::Refused(refusal) if matches!(refusal.code, 404 | 405 | 410))
}

/// Agents that are built with the official JavaScript SDK are Express applications, and are known by that alone; behind a
/// proxy that hides it they are taken for the others.
fn files(headers: &HeaderMap) -> Files {
    match headers.get("x-powered-by") {
        Some(by) if by.as_bytes().eq_ignore_ascii_case(b"express") => Files::Bytes,
        _ => Files::Text,
    }
}

fn parse(body: &[u8], url: Url, headers: &HeaderMap) -> Result<Card, Why> {
    let no_card =
        |reason: &dyn std::fmt::Display| Why::Malformed(format!("{url} holds no agent card: {reason}"));
    let raw: Value = serde_json::from_slice(body).map_err(|error| no_card(&error))?;
    let Value::Object(members) = &raw else { return Err(no_card(&"it is not an object")) };
    let card = if weft_v03::card::is_legacy(members) {
        weft_v03::card::read(members.clone()).map_err(|fault| no_card(&fault))?
    } else {
        AgentCard::read(body).map_err(|error| no_card(&error))?
    };
    Ok(Card { card, raw, url, files: files(headers), etag: headers.get(header::ETAG).cloned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_looked_for_under_the_whole_base_address() {
        let places =
            |base: &str| under(&Url::parse(base).unwrap()).iter().map(Url::to_string).collect::<Vec<_>>();
        let found = places("http://h:1/agents/crm?x=1");
        assert_eq!(found[0], "http://h:1/agents/crm/.well-known/agent-card.json");
        assert_eq!(found[1], "http://h:1/agents/crm/.well-known/agent.json");
        assert_eq!(places("http://h:1")[0], "http://h:1/.well-known/agent-card.json");
    }

    #[test]
    fn fields_nobody_knows_are_kept_beside_the_card() {
        let (url, none) = (Url::parse("http://h/c.json").unwrap(), HeaderMap::new());
        let card =
            parse(br#"{"name":"a","supportedInterfaces":[],"futureField":{"x":[1]}}"#, url.clone(), &none)
                .unwrap();
        assert_eq!((card.card.name.as_str(), &card.raw["futureField"]["x"][0]), ("a", &Value::from(1)));
        for body in ["[]", "null", "nope", "{\"name\":7}"] {
            assert!(matches!(parse(body.as_bytes(), url.clone(), &none), Err(Why::Malformed(_))), "{body}");
        }
    }
}
