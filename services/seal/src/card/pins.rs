//! Whose signatures on a card count, and when a key set is fetched again.
//!
//! Nothing here fetches: a caller asks, does what it is told, and reports back.

use std::collections::{BTreeMap, BTreeSet};

use http::Uri;

use super::{CardFault, CardPublicKey, Header};

/// Seconds for which nothing is fetched again from a place, whatever keys are asked for.
const COOLDOWN_S: i64 = 60;
/// Seconds after which a key set is fetched anew even for a key it holds: the key may have been withdrawn.
const AGE_S_MAX: i64 = 3_600;
/// Most key sets that are kept.
const SETS_MAX: usize = 256;

/// What an operator trusts: keys themselves, and places whose key sets speak for their agents.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    keys: BTreeMap<String, CardPublicKey>,
    /// `scheme://host[:port]` in lower case.
    origins: BTreeSet<String>,
}

/// Where the key of a signature comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Find<'p> {
    /// It is pinned.
    Pinned(&'p CardPublicKey),
    /// It is in the key set at this URL, which is at an allowed place.
    In(String),
}

/// Key sets as they were fetched, by URL.
#[derive(Debug, Clone, Default)]
pub struct KeySets {
    sets: BTreeMap<String, Fetched>,
}

#[derive(Debug, Clone)]
struct Fetched {
    keys: Vec<CardPublicKey>,
    /// When it was fetched, or last tried, in Unix seconds.
    tried: i64,
}

/// What to do about a key of a set.
#[derive(Debug, Clone, PartialEq)]
pub enum Look<'s> {
    /// Here it is.
    Key(&'s CardPublicKey),
    /// Fetch the set, then tell [`KeySets::put`], or [`KeySets::failed`].
    Fetch,
    /// The set does not hold it, and was fetched just now: the signature is not good.
    Unknown,
}

// === impl Pins ===

impl Pins {
    /// Trusts a key.
    pub fn pin(&mut self, key: CardPublicKey) {
        self.keys.insert(key.id().to_owned(), key);
    }

    /// Trusts the key sets at a place: `https://host[:port]`, or `http://` for loopback addresses.
    ///
    /// # Errors
    /// [`CardFault::Key`] when it is no such place.
    pub fn allow(&mut self, origin: &str) -> Result<(), CardFault> {
        let origin = origin_of(origin).ok_or(CardFault::Key("a key set lies at https://host[:port]"))?;
        self.origins.insert(origin);
        Ok(())
    }

    /// Where the key of a signature is found. A pinned key wins over what the signature says of itself.
    ///
    /// # Errors
    /// [`CardFault::Untrusted`] when it is neither pinned nor at an allowed place.
    pub fn find(&self, header: &Header) -> Result<Find<'_>, CardFault> {
        if let Some(key) = self.keys.get(&header.kid) {
            return Ok(Find::Pinned(key));
        }
        let jku = header.jku.as_deref().ok_or(CardFault::Untrusted)?;
        match origin_of(jku) {
            Some(origin) if self.origins.contains(&origin) => Ok(Find::In(jku.to_owned())),
            _ => Err(CardFault::Untrusted),
        }
    }
}

/// `scheme://host[:port]` of a URL under which a key set may lie.
fn origin_of(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let authority = uri.authority()?.as_str().to_ascii_lowercase();
    let host = uri.host()?;
    let local = matches!(host, "127.0.0.1" | "[::1]" | "localhost");
    let scheme = uri.scheme_str().filter(|scheme| *scheme == "https" || (*scheme == "http" && local))?;
    // A name in front of an `@` is there to be mistaken for the host.
    if authority.contains('@') {
        return None;
    }
    Some(format!("{scheme}://{authority}"))
}

// === impl KeySets ===

impl KeySets {
    /// What to do about key `kid` of the set at `url`. Of any number of unknown ids one in a cool-down (60 s) leads to
    /// a fetch; a set is an hour old at most.
    #[must_use]
    pub fn look(&self, url: &str, kid: &str, now_s: i64) -> Look<'_> {
        let Some(fetched) = self.sets.get(url) else { return Look::Fetch };
        let age = now_s.saturating_sub(fetched.tried);
        let key = fetched.keys.iter().find(|key| key.id() == kid);
        match key {
            Some(key) if (0..AGE_S_MAX).contains(&age) => Look::Key(key),
            None if (0..COOLDOWN_S).contains(&age) => Look::Unknown,
            _ => Look::Fetch,
        }
    }

    /// Keeps a set that was fetched.
    pub fn put(&mut self, url: &str, keys: Vec<CardPublicKey>, now_s: i64) {
        if self.sets.len() >= SETS_MAX && !self.sets.contains_key(url) {
            let oldest = self.sets.iter().min_by_key(|(_, set)| set.tried).map(|(url, _)| url.clone());
            oldest.map(|url| self.sets.remove(&url));
        }
        self.sets.insert(url.to_owned(), Fetched { keys, tried: now_s });
    }

    /// Remembers that a set could not be fetched: nothing of it is trusted any more, and it is left alone for a while.
    pub fn failed(&mut self, url: &str, now_s: i64) {
        self.put(url, Vec::new(), now_s);
    }
}
