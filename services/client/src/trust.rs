//! Whether a card is what its agent signed (A2A v1.0 §8.4).

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::time::Instant;
use weft_proto::a2a::AgentCardSignature;
use weft_seal::card::{
    CardFault, CardPublicKey, CardSignature, Find, Header, KeySets, Look, canonical, keys_in, verify,
};

use crate::card::{self, Card};
use crate::client::{Client, Shared};

/// What the signatures of a card are worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    /// It has none.
    Unsigned,
    /// One of them is by a key that is pinned, or from a key set at an allowed place.
    Verified {
        /// Id of the key.
        key: String,
    },
    /// None of them counts; why the last one does not.
    Failed(String),
}

/// The key sets that were fetched, and when.
pub(crate) struct Sets {
    known: Mutex<KeySets>,
    since: Instant,
}

impl Sets {
    pub(crate) fn new() -> Sets {
        Sets { known: Mutex::default(), since: Instant::now() }
    }

    /// Seconds since the client was made: ages are all that counts.
    fn now(&self) -> i64 {
        i64::try_from(self.since.elapsed().as_secs()).unwrap_or(i64::MAX)
    }

    async fn key(&self, shared: &Shared, url: &str, id: &str) -> Result<CardPublicKey, CardFault> {
        if let Some(found) = self.look(url, id) {
            return found;
        }
        // A set that cannot be had is as good as an empty one, for a while.
        let fetched = card::document(shared, url).await.ok();
        let keys = fetched.and_then(|set| keys_in(&String::from_utf8_lossy(&set)).ok());
        let now = self.now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match keys {
            Some(keys) => known.put(url, keys, now),
            None => known.failed(url, now),
        }
        drop(known);
        self.look(url, id).unwrap_or(Err(CardFault::UnknownKey))
    }

    /// The key; `None`: the set has to be fetched.
    fn look(&self, url: &str, id: &str) -> Option<Result<CardPublicKey, CardFault>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.look(url, id, self.now()) {
            Look::Key(key) => Some(Ok(key.clone())),
            Look::Unknown => Some(Err(CardFault::UnknownKey)),
            Look::Fetch => None,
        }
    }
}

impl Client {
    /// Checks the signatures of a card against the keys and places of [`Options::pins`](crate::Options::pins). A key
    /// set is fetched only from a place that is allowed there, whatever the card says, and is kept for an hour.
    ///
    /// What it means that a card is unsigned is the caller's to decide.
    pub async fn verify(&self, card: &Card) -> Signature {
        let shared = self.shared();
        let mut result = Signature::Unsigned;
        for signature in &card.card.signatures {
            match checked(shared, card, signature).await {
                Ok(key) => return Signature::Verified { key },
                Err(fault) => result = Signature::Failed(fault.to_string()),
            }
        }
        result
    }
}

async fn checked(shared: &Shared, card: &Card, signature: &AgentCardSignature) -> Result<String, CardFault> {
    let header = Header::read(&signature.protected)?;
    let key = match shared.pins.find(&header)? {
        Find::Pinned(key) => key.clone(),
        Find::In(url) => shared.sets.key(shared, &url, &header.kid).await?,
    };
    let signature =
        CardSignature { protected: signature.protected.clone(), signature: signature.signature.clone() };
    // As it was written: fields that this version does not know are signed too.
    verify(&key, &canonical(&card.raw)?, &signature).or_else(|fault| {
        // Agents that write members of an older version beside the new ones sign the new ones alone; what is used of
        // the card is then signed all the same.
        let known: Value = serde_json::to_value(&card.card).map_err(|_| fault)?;
        verify(&key, &canonical(&known)?, &signature)
    })?;
    Ok(header.kid)
}
