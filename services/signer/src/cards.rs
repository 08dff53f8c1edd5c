//! The keys that sign agent cards, as files under `<data>/keys/cards`, and their rotation.
//!
//! A pair of keys, one ES256 and one Ed25519, is named by the second it was made in: `1767225600.es256.pem` and
//! `1767225600.ed25519.pem`. The newest pair signs. An older one stays in the key set for a while after it was followed
//! by the next, so that cards which others have kept still verify; then only its files are left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use weft_chassis::Env;
use weft_seal::KeyFault;
use weft_seal::card::{Alg, CardKey, CardPublicKey, CardSignature, canonical, sign};
use zeroize::Zeroizing;

use crate::KeyringFault;
use crate::keyring::file;

/// What key files are named, for the one who finds another file there.
const EXPECTED: &str = "SECONDS.es256.pem or SECONDS.ed25519.pem";
const SECONDS_A_DAY: i64 = 86_400;

/// The card keys of one mesh.
pub(crate) struct Cards {
    dir: PathBuf,
    /// Days after which a pair is followed by the next; 0: never.
    rotate_days: u32,
    /// Days for which an older pair stays in the key set.
    overlap_days: u32,
    /// Never empty; by when they were made.
    pairs: Mutex<BTreeMap<i64, Pair>>,
}

/// ES256 first, then EdDSA.
type Pair = [CardKey; 2];

// === impl Cards ===

impl Cards {
    /// Reads the keys; makes the first pair. Blocks shortly.
    pub(crate) fn open(
        data: &Path,
        rotate_days: u32,
        overlap_days: u32,
        env: &Env,
    ) -> Result<Cards, KeyringFault> {
        let dir = data.join("keys").join("cards");
        file::private_dir(&dir)?;
        let mut pairs = BTreeMap::new();
        for made in generations(&dir)? {
            pairs.insert(made, read(&dir, made, env)?);
        }
        if pairs.is_empty() {
            let now = env.now().seconds;
            pairs.insert(now, read(&dir, now, env)?);
        }
        let cards = Cards { dir, rotate_days, overlap_days, pairs: Mutex::new(pairs) };
        cards.rotate(env);
        Ok(cards)
    }

    /// Signs the ProtoJSON form of a card with the newest pair.
    ///
    /// # Errors
    /// Says why the card has no canonical form.
    pub(crate) fn sign(
        &self,
        card: &serde_json::Value,
        jku: &str,
        env: &Env,
    ) -> Result<Vec<CardSignature>, weft_seal::card::CardFault> {
        let bytes = canonical(card)?;
        self.rotate(env);
        let pairs = self.lock();
        let newest = pairs.last_key_value().into_iter().flat_map(|(_, pair)| pair);
        Ok(newest.map(|key| sign(key, &bytes, jku)).collect())
    }

    /// The public keys that cards may still be signed with, newest first.
    pub(crate) fn public(&self, env: &Env) -> Vec<CardPublicKey> {
        let now = env.now().seconds;
        let overlap = i64::from(self.overlap_days) * SECONDS_A_DAY;
        let pairs = self.lock();
        let mut followed = i64::MAX;
        let mut public = Vec::new();
        for (made, pair) in pairs.iter().rev() {
            if followed == i64::MAX || now.saturating_sub(followed) < overlap {
                public.extend(pair.iter().map(CardKey::public));
            }
            followed = *made;
        }
        public
    }

    /// Makes the next pair when it is time. When it cannot be written, the one before goes on signing.
    fn rotate(&self, env: &Env) {
        let now = env.now().seconds;
        let mut pairs = self.lock();
        let age = pairs.last_key_value().map_or(0, |(made, _)| now.saturating_sub(*made));
        if self.rotate_days == 0 || age < i64::from(self.rotate_days) * SECONDS_A_DAY {
            return;
        }
        match read(&self.dir, now, env) {
            Ok(pair) => {
                tracing::info!("cards are signed with a new pair of keys from now on");
                pairs.insert(now, pair);
            }
            Err(fault) => tracing::error!(%fault, "no new pair of card keys could be made"),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<i64, Pair>> {
        // Whoever panicked with the lock held changed nothing half.
        self.pairs.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// When the pairs there were made.
fn generations(dir: &Path) -> Result<Vec<i64>, KeyringFault> {
    let made = file::list(dir)?.into_iter().map(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = Alg::ALL.iter().find_map(|alg| name.strip_suffix(suffix(*alg)));
        let made = stem.and_then(|stem| stem.parse::<i64>().ok());
        made.ok_or(KeyringFault::Name { path, expected: EXPECTED })
    });
    let mut made = made.collect::<Result<Vec<_>, _>>()?;
    made.sort_unstable();
    made.dedup();
    Ok(made)
}

/// Reads a pair, making what is missing of it.
fn read(dir: &Path, made: i64, env: &Env) -> Result<Pair, KeyringFault> {
    let one = |alg: Alg| {
        let path = dir.join(format!("{made}{}", suffix(alg)));
        if !file::exists(&path)? {
            file::create_private(&path, fresh(alg, env).to_pem().as_bytes(), &env.id())?;
        }
        CardKey::from_pem(alg, &file::read_private(&path)?)
            .map_err(|_| KeyringFault::Damaged { path, fault: KeyFault::Card })
    };
    Ok([one(Alg::Es256)?, one(Alg::EdDsa)?])
}

fn fresh(alg: Alg, env: &Env) -> CardKey {
    loop {
        let mut seed = Zeroizing::new([0; 32]);
        env.fill(seed.as_mut_slice());
        if let Some(key) = CardKey::from_seed(alg, &seed) {
            return key;
        }
    }
}

const fn suffix(alg: Alg) -> &'static str {
    match alg {
        Alg::Es256 => ".es256.pem",
        Alg::EdDsa => ".ed25519.pem",
    }
}
