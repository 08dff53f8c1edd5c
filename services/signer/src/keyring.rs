//! The keys of the mesh, as files under `<data>/keys`.
//!
//! | path | holds | mode |
//! |---|---|---|
//! | `mesh.pem` | the mesh's Ed25519 key, PKCS#8; made at the first start | 0600 |
//! | `wrap.key` | the key of secrets kept elsewhere ([`crate::wrap`]), base64url; made at the first start | 0600 |
//! | `secrets/NODE.derived`, `secrets/NODE.shared` | a secret shared with a node, base64url, for nodes that cannot check Ed25519 | 0600 |
//! | `cards/SECONDS.es256.pem`, `cards/SECONDS.ed25519.pem` | the keys of agent cards ([`crate::cards`]), PKCS#8 | 0600 |
//! | `peers/NODE.jwk` | a node's public Ed25519 key, JWK or bare `x` | any |
//!
//! A secret file is the operator's word that the node checks seals of that mode: calls to it are sealed with the
//! strongest mode it has a file for, and with the mesh's Ed25519 key when it has none.

pub(crate) mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft_chassis::Env;
use weft_seal::{CheckKey, Key, KeyFault, Mode, PublicKey, Secret, Trust, strongest_common};
use zeroize::Zeroizing;

/// Why the keys cannot be used. Names the file and the remedy, never its content.
#[derive(Debug, thiserror::Error)]
pub enum KeyringFault {
    /// Somebody else can read, or change, what must be private.
    #[error("{}: others can reach it (mode {mode:03o}); chmod {wanted:o} it, and replace the key if it may have been read", path.display())]
    TooOpen {
        /// The file or directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// What they should be.
        wanted: u32,
    },
    /// The content is no key.
    #[error("{}: {fault}; restore the file from a backup, or remove it to start with a new key that nodes must be told of", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: KeyFault,
    },
    /// The name of a file in the key directory does not say whose key it is.
    #[error("{}: not a key file name; expected {expected}", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// Which names there are.
        expected: &'static str,
    },
    /// The disk says no.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// The keys of one mesh. Prints no secret.
#[derive(Debug)]
pub(crate) struct Keyring {
    mesh: Key,
    /// Keys for calls to nodes that check no Ed25519.
    per_node: BTreeMap<String, Key>,
    trust: Trust,
}

impl Keyring {
    /// Opens the keys under `data`, making the mesh's own key when there is none. `mesh` is the mesh's id.
    pub(crate) fn open(data: &Path, mesh: &str, env: &Env) -> Result<Self, KeyringFault> {
        let keys = data.join("keys");
        file::private_dir(&keys)?;
        let mesh_key = mesh_key(&keys.join("mesh.pem"), env)?;

        let mut trust = Trust::new();
        let mut secrets: BTreeMap<String, Vec<(Mode, Secret)>> = BTreeMap::new();
        for path in file::list(&keys.join("secrets"))? {
            let (node, mode) = secret_name(&path)?;
            let secret = Secret::from_base64url(&file::read_private(&path)?).map_err(damaged(&path))?;
            let incoming = key(mode, &secret, &node, mesh).map_err(damaged(&path))?;
            trust.add(&node, CheckKey::from(&incoming)).map_err(damaged(&path))?;
            secrets.entry(node).or_default().push((mode, secret));
        }
        for path in file::list(&keys.join("peers"))? {
            let node = named(&path, ".jwk", "NODE.jwk")?;
            let public = PublicKey::parse(&file::read(&path)?).map_err(damaged(&path))?;
            trust.add(&node, public).map_err(damaged(&path))?;
        }
        let mut per_node = BTreeMap::new();
        for (node, secrets) in secrets {
            let theirs: Vec<Mode> = secrets.iter().map(|(mode, _)| *mode).collect();
            let used = strongest_common(&[Mode::Ed25519, Mode::Derived, Mode::Shared], &theirs);
            if let Some((mode, secret)) = secrets.iter().find(|(mode, _)| Some(*mode) == used) {
                let outgoing = key(*mode, secret, mesh, &node).map_err(damaged(&keys.join("secrets")))?;
                per_node.insert(node, outgoing);
            }
        }
        Ok(Self { mesh: mesh_key, per_node, trust })
    }

    /// The key that seals calls to `node`.
    pub(crate) fn for_node(&self, node: &str) -> &Key {
        self.per_node.get(node).unwrap_or(&self.mesh)
    }

    /// The public half of the mesh's own key.
    pub(crate) fn public(&self) -> PublicKey {
        self.mesh.public().expect("the mesh's own key is an Ed25519 key")
    }

    /// Takes out whose seals are accepted.
    pub(crate) fn take_trust(&mut self) -> Trust {
        std::mem::take(&mut self.trust)
    }
}

/// The key for calls from one side to the other; its id says mode and direction.
fn key(mode: Mode, secret: &Secret, from: &str, to: &str) -> Result<Key, KeyFault> {
    let id = format!("{mode}:{from}:{to}");
    match mode {
        Mode::Derived => Key::derived(&id, secret, from, to),
        Mode::Shared | Mode::Ed25519 => Key::shared(&id, secret),
    }
}

fn mesh_key(path: &Path, env: &Env) -> Result<Key, KeyringFault> {
    if !file::exists(path)? {
        let mut seed = Zeroizing::new([0; 32]);
        env.fill(seed.as_mut_slice());
        let pem = Key::from_seed(&seed).to_pem().expect("an Ed25519 key has a PEM form");
        // Another process may have been faster; whoever was first made the key.
        file::create_private(path, pem.as_bytes(), &env.id())?;
    }
    Key::from_pem(&file::read_private(path)?).map_err(damaged(path))
}

fn damaged(path: &Path) -> impl FnOnce(KeyFault) -> KeyringFault + '_ {
    |fault| KeyringFault::Damaged { path: path.to_owned(), fault }
}

fn secret_name(path: &Path) -> Result<(String, Mode), KeyringFault> {
    const EXPECTED: &str = "NODE.derived or NODE.shared";
    for mode in [Mode::Derived, Mode::Shared] {
        if let Ok(node) = named(path, &format!(".{mode}"), EXPECTED) {
            return Ok((node, mode));
        }
    }
    Err(KeyringFault::Name { path: path.to_owned(), expected: EXPECTED })
}

fn named(path: &Path, suffix: &str, expected: &'static str) -> Result<String, KeyringFault> {
    let name = path.file_name().and_then(|name| name.to_str());
    let node = name.and_then(|name| name.strip_suffix(suffix)).filter(|node| !node.is_empty());
    node.map(str::to_owned).ok_or_else(|| KeyringFault::Name { path: path.to_owned(), expected })
}

#[cfg(test)]
mod tests;
