//! JWK sets (RFC 7517 §5) with the keys of cards in them.

use serde_json::{Value, json};

use super::{CardFault, CardPublicKey};
use crate::PublicKey;

/// Largest set that is read, in bytes.
const BYTES_MAX: usize = 64 * 1024;
/// Most keys of a set that is read.
const KEYS_MAX: usize = 64;
/// The member that says what a key is for; RFC 7517 §4 lets readers pass over members they do not know.
const PURPOSE: &str = "weft_purpose";
/// Its value for keys that sign cards, and for nothing else.
const CARDS: &str = "card";

/// The public keys of a mesh: those that seal hops, then those that sign cards.
#[must_use]
pub fn key_set<'k>(
    hops: impl IntoIterator<Item = &'k PublicKey>,
    cards: impl IntoIterator<Item = &'k CardPublicKey>,
) -> Value {
    let mut keys: Vec<Value> = hops.into_iter().map(PublicKey::to_jwk).collect();
    keys.extend(cards.into_iter().map(|key| {
        let mut jwk = key.to_jwk();
        jwk[PURPOSE] = json!(CARDS);
        jwk
    }));
    json!({ "keys": keys })
}

/// True for a key of a set that signs cards and must not be trusted to seal a hop.
#[must_use]
pub fn is_for_cards(jwk: &Value) -> bool {
    jwk[PURPOSE] == CARDS
}

/// The keys of anybody's set that can check cards; keys of other kinds are passed over.
///
/// # Errors
/// [`CardFault::Key`] for what is no set, too large, or holds a broken or private key.
pub fn keys_in(set: &str) -> Result<Vec<CardPublicKey>, CardFault> {
    if set.len() > BYTES_MAX {
        return Err(CardFault::Key("the key set is too large"));
    }
    let set: Value = serde_json::from_str(set).map_err(|_| CardFault::Key("not a key set"))?;
    let keys = set["keys"].as_array().ok_or(CardFault::Key("not a key set"))?;
    if keys.len() > KEYS_MAX {
        return Err(CardFault::Key("the key set holds too many keys"));
    }
    keys.iter().filter_map(|jwk| CardPublicKey::parse(jwk).transpose()).collect()
}
