//! The fleet nodes without an address of their own: they live in the process of the executor-bridge and are reached
//! without a port, sealed all the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::try_join_all;
use weft_chassis::{Env, Peer};
use weft_core::manifest::{Fleet, Manifest};
use weft_node::{Host, Place};
use weft_proto::weft::JwksRequest;
use weft_proto::weft::signer_client::SignerClient;
use weft_seal::{PublicKey, Trust};

use crate::settings::Settings;

/// Pause between two tries to reach the signer.
const PAUSE: Duration = Duration::from_millis(50);

/// Opens every node of the fleet's folder that has no address, and follows changes of their manifests.
///
/// # Errors
/// When the folder or a source is wrong, or the signer does not say its keys in time.
pub(super) async fn nodes(
    settings: &Settings,
    data: &Path,
    signer: Peer,
    env: &Env,
) -> Result<HashMap<String, Peer>, String> {
    let fleet = read_fleet(&settings.catalog.dir).await?;
    let keys = tokio::time::timeout(Duration::from_millis(settings.mesh.start_ms), mesh_keys(signer))
        .await
        .map_err(|_| "the signer did not say its keys within mesh.start_ms".to_owned())?;
    let place = Place { base_dir: PathBuf::from(&settings.catalog.dir), data_dir: data.join("nodes") };
    let hosted = fleet.nodes.into_iter().filter(|manifest| manifest.node.address.is_empty());
    let hosts: Vec<Host> = try_join_all(hosted.map(|manifest| {
        let (place, keys) = (place.clone(), keys.clone());
        async move {
            let trust = trusting(&keys)?;
            Host::open(manifest, place, trust, &settings.node, env).await.map_err(|e| e.to_string())
        }
    }))
    .await?;
    let peers = hosts.iter().map(|host| (host.id().to_owned(), host.peer())).collect();
    env.spawn(follow(settings.catalog.clone(), hosts, env.clone()));
    Ok(peers)
}

/// Trust in these keys of the mesh.
///
/// # Errors
/// When the same key stands there twice.
pub(crate) fn trusting(keys: &[PublicKey]) -> Result<Trust, String> {
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
    if keys.is_empty() {
        return Err("the JWK set holds no key".to_owned());
    }
    keys.iter().map(|key| PublicKey::parse(&key.to_string()).map_err(|e| e.to_string())).collect()
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

/// Puts changed manifests in place, as often as the catalog looks at them. What is wrong stays out; the catalog says
/// why. A node that is new, or gets an address, is there after a restart.
async fn follow(settings: weft_catalog::Settings, hosts: Vec<Host>, env: Env) {
    let mut known: HashMap<String, Manifest> = HashMap::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(settings.poll_ms));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = env.stop().cancelled() => return,
            _ = ticks.tick() => {}
        }
        let Ok(fleet) = read_fleet(&settings.dir).await else { continue };
        for manifest in fleet.nodes {
            let Some(host) = hosts.iter().find(|host| host.id() == manifest.node.id) else { continue };
            let changed = known.insert(manifest.node.id.clone(), manifest.clone()).is_some_and(|old| old != manifest);
            if changed && let Err(problems) = host.reload(manifest).await {
                tracing::warn!(node = host.id(), %problems, "the changed manifest cannot be used; the old one stays");
            }
        }
    }
}
