//! Whose seals are accepted, by which keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::{CheckKey, KeyFault, Mode, SealFault, mode};

/// Keys by id, each belonging to one peer. A peer may have several (while one is being replaced); the strongest
/// mode among them is the one that it must use.
#[derive(Debug, Default)]
pub struct Trust {
    keys: HashMap<String, (String, CheckKey)>,
    required: HashMap<String, Mode>,
}

impl Trust {
    /// Trusts nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts one peer by one key.
    pub fn one(peer: &str, key: impl Into<CheckKey>) -> Self {
        let key = key.into();
        let required = HashMap::from([(peer.to_owned(), key.mode())]);
        Self { keys: HashMap::from([(key.id().to_owned(), (peer.to_owned(), key))]), required }
    }

    /// Trusts `key` as one of `peer`'s.
    ///
    /// # Errors
    /// [`KeyFault::Taken`] when the key's id is already trusted.
    pub fn add(&mut self, peer: &str, key: impl Into<CheckKey>) -> Result<(), KeyFault> {
        let key = key.into();
        let mode = key.mode();
        match self.keys.entry(key.id().to_owned()) {
            Entry::Occupied(_) => return Err(KeyFault::Taken),
            Entry::Vacant(free) => free.insert((peer.to_owned(), key)),
        };
        let required = self.required.entry(peer.to_owned()).or_insert(mode);
        *required = mode.max(*required);
        Ok(())
    }

    /// The peer and key behind a key id, unless the seal claims another algorithm or the peer must use a
    /// stronger key.
    pub(crate) fn find(&self, key_id: &str, algorithm: &str) -> Result<(&str, &CheckKey), SealFault> {
        let (peer, key) = self.keys.get(key_id).ok_or(SealFault::UnknownKey)?;
        if algorithm != key.mode().algorithm() {
            return Err(SealFault::Algorithm);
        }
        let required = self.required.get(peer).copied().unwrap_or(Mode::Ed25519);
        mode::refuse_downgrade(required, key.mode())?;
        Ok((peer, key))
    }
}

#[cfg(test)]
mod tests {
    use super::Trust;
    use crate::{Key, KeyFault, Mode, SealFault, Secret};

    #[test]
    fn a_peer_with_a_stronger_key_may_not_use_its_weaker_one() {
        let secret = Secret::from_bytes(&[9; 32]).unwrap();
        let shared = Key::shared("s", &secret).unwrap();
        let derived = Key::derived("d", &secret, "crm", "mesh").unwrap();
        let pair = Key::from_seed(&[1; 32]);
        let mut trust = Trust::new();
        trust.add("crm", &shared).unwrap();
        assert!(trust.find("s", "hmac-sha256").is_ok());
        trust.add("crm", &derived).unwrap();
        let downgrade = |required| Some(SealFault::Downgrade { required, used: Mode::Shared });
        assert_eq!(trust.find("s", "hmac-sha256").err(), downgrade(Mode::Derived));
        assert_eq!(trust.find("d", "hmac-sha256").unwrap().0, "crm");
        trust.add("crm", &pair).unwrap();
        assert_eq!(trust.find("s", "hmac-sha256").err(), downgrade(Mode::Ed25519));
        assert!(trust.find("d", "hmac-sha256").is_err());
        assert!(trust.find(pair.id(), "ed25519").is_ok());

        let other = Key::shared("other", &secret).unwrap();
        trust.add("lan", &other).unwrap();
        assert!(trust.find("other", "hmac-sha256").is_ok(), "each peer has a rule of its own");
    }

    #[test]
    fn an_algorithm_is_never_taken_from_the_seal() {
        let key = Key::from_seed(&[1; 32]);
        let mut trust = Trust::new();
        trust.add("crm", &key).unwrap();
        for algorithm in ["hmac-sha256", "none", "", "ED25519", "rsa-pss-sha512"] {
            assert_eq!(trust.find(key.id(), algorithm).err(), Some(SealFault::Algorithm));
        }
        assert_eq!(trust.find("nobody", "ed25519").err(), Some(SealFault::UnknownKey));
    }

    #[test]
    fn one_key_id_names_one_peer() {
        let key = Key::from_seed(&[1; 32]);
        let mut trust = Trust::new();
        trust.add("crm", &key).unwrap();
        assert_eq!(trust.add("lan", &key), Err(KeyFault::Taken));
    }
}
