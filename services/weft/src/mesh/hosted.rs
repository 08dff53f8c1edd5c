//! The fleet nodes without an address of their own: they live in the process of the executor-bridge and are reached
//! without a port, sealed all the same. They come, change and go with their manifests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::watch;
use weft_chassis::{Env, Peer};
use weft_core::manifest::{Fleet, Manifest};
use weft_node::{Host, Place};
use weft_proto::weft::JwksRequest;
use weft_proto::weft::signer_client::SignerClient;
use weft_seal::card::is_for_cards;
use weft_seal::{PublicKey, Trust};

use crate::settings::Settings;

/// Pause between two tries to reach the signer.
const PAUSE: Duration = Duration::from_millis(50);

/// The hosts of this process and what each was made from.
struct Hosts {
    place: Place,
    keys: Vec<PublicKey>,
    settings: weft_node::Settings,
    env: Env,
    open: HashMap<String, (Manifest, Host)>,
}

/// Opens every node of the fleet's folder that has no address, and follows the folder from then on.
///
/// # Errors
/// When the folder or a source is wrong, or the signer does not say its keys in time.
pub(super) async fn nodes(
    settings: &Settings,
    data: &Path,
    signer: Peer,
    env: &Env,
) -> Result<watch::Receiver<HashMap<String, Peer>>, String> {
    let fleet = read_fleet(&settings.catalog.dir).await?;
    let keys = tokio::time::timeout(Duration::from_millis(settings.mesh.start_ms), mesh_keys(signer))
        .await
        .map_err(|_| "the signer did not say its keys within mesh.start_ms".to_owned())?;
    let mut hosts = Hosts {
        place: Place { base_dir: PathBuf::from(&settings.catalog.dir), data_dir: data.join("nodes") },
        keys,
        settings: settings.node.clone(),
        env: env.clone(),
        open: HashMap::new(),
    };
    for manifest in hosted(fleet) {
        hosts.put(manifest).await?;
    }
    let (peers, watched) = watch::channel(hosts.peers());
    env.spawn(follow(settings.catalog.clone(), hosts, peers));
    Ok(watched)
}

/// Trust of a node that Weft hosts in these keys of the mesh.
///
/// # Errors
/// When the manifest wants another kind of seal than those keys make, or the same key stands there twice.
pub(crate) fn trusting(keys: &[PublicKey], node: &weft_proto::weft::Node) -> Result<Trust, String> {
    if node.seal != weft_proto::weft::SealMode::Ed25519 as i32 {
        let id = &node.id;
        return Err(format!(
            "{id}: node.seal: a node that Weft hosts takes ed25519 seals only: remove the key"
        ));
    }
    let mut trust = Trust::new();
    for key in keys {
        trust.add("mesh", key.clone()).map_err(|e| e.to_string())?;
    }
    Ok(trust)
}

/// The keys in a JWK set (RFC 7517).
///
/// # Errors
/// When it is no JWK set, holds no key, or one that is not Ed25519.
pub(crate) fn keys_in(set: &str) -> Result<Vec<PublicKey>, String> {
    let set: serde_json::Value = serde_json::from_str(set).map_err(|e| format!("not a JWK set: {e}"))?;
    let keys = set["keys"].as_array().ok_or("not a JWK set: `keys` is missing")?;
    let mut keys = keys.iter().filter(|key| !is_for_cards(key)).peekable();
    if keys.peek().is_none() {
        return Err("the JWK set holds no key that seals calls".to_owned());
    }
    keys.map(|key| PublicKey::parse(&key.to_string()).map_err(|e| e.to_string())).collect()
}

// === impl Hosts ===

impl Hosts {
    /// Opens a node, or puts its changed manifest in place.
    async fn put(&mut self, manifest: Manifest) -> Result<(), String> {
        let id = manifest.node.id.clone();
        let host = match self.open.remove(&id) {
            Some((known, host)) if known == manifest => host,
            Some((known, host)) => {
                if let Err(problems) = host.reload(manifest.clone()).await {
                    self.open.insert(id, (known, host));
                    return Err(problems.to_string());
                }
                host
            }
            None => {
                let trust = trusting(&self.keys, &manifest.node)?;
                Host::open(manifest.clone(), self.place.clone(), trust, &self.settings, &self.env)
                    .await
                    .map_err(|problems| problems.to_string())?
            }
        };
        self.open.insert(id, (manifest, host));
        Ok(())
    }

    fn peers(&self) -> HashMap<String, Peer> {
        self.open.iter().map(|(id, (_, host))| (id.clone(), host.peer())).collect()
    }
}

fn hosted(fleet: Fleet) -> impl Iterator<Item = Manifest> {
    fleet.nodes.into_iter().filter(|manifest| manifest.node.address.is_empty())
}

/// Looks at the folder as often as the catalog does. What is wrong stays out; the node stays as it was.
async fn follow(
    settings: weft_catalog::Settings,
    mut hosts: Hosts,
    peers: watch::Sender<HashMap<String, Peer>>,
) {
    let env = hosts.env.clone();
    let mut refused: HashMap<String, String> = HashMap::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(settings.poll_ms));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = env.stop().cancelled() => return,
            _ = ticks.tick() => {}
        }
        // A folder that cannot be read changes nothing; the catalog says what is wrong with it.
        let Ok(fleet) = read_fleet(&settings.dir).await else { continue };
        let before = hosts.open.len();
        let declared: Vec<Manifest> = hosted(fleet).collect();
        hosts.open.retain(|id, _| declared.iter().any(|manifest| manifest.node.id == *id));
        let mut changed = before != hosts.open.len();
        for manifest in declared {
            let id = manifest.node.id.clone();
            let is_new = !hosts.open.contains_key(&id);
            match hosts.put(manifest).await {
                Ok(()) => {
                    refused.remove(&id);
                    changed |= is_new;
                }
                // Said once for each problem, not at every look.
                Err(problem) => {
                    if refused.insert(id.clone(), problem.clone()).as_ref() != Some(&problem) {
                        tracing::warn!(node = %id, %problem, "the manifest cannot be used");
                    }
                }
            }
        }
        if changed {
            peers.send_replace(hosts.peers());
        }
    }
}

async fn mesh_keys(signer: Peer) -> Vec<PublicKey> {
    let mut signer = SignerClient::new(signer);
    loop {
        match signer.jwks(JwksRequest {}).await {
            Ok(answer) => match keys_in(&answer.into_inner().json) {
                Ok(keys) => return keys,
                Err(problem) => tracing::warn!(%problem, "the signer's keys cannot be used"),
            },
            Err(error) => tracing::debug!(%error, "the signer does not answer yet"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn read_fleet(dir: &str) -> Result<Fleet, String> {
    let dir = PathBuf::from(dir);
    let read = tokio::task::spawn_blocking(move || weft_catalog::read_fleet(&dir)).await;
    read.map_err(|e| format!("the fleet's folder could not be read: {e}"))?.map_err(|e| e.to_string())
}
