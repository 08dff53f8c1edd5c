//! `weft node FILE`: one fleet node on a port of its own.

use std::path::{Path, PathBuf};
use std::process;

use weft_chassis::settings::Layers;
use weft_chassis::{Env, Outbound, serve};
use weft_node::{Host, Place};
use weft_seal::PublicKey;

use super::Failure;
use super::args::NodeArgs;
use super::out::Out;
use super::remote::document;
use super::up::{init, read, stop_signal};
use crate::mesh::{keys_in, trusting};

/// Hosts the node until a signal.
pub(super) async fn node(layers: &Layers, args: NodeArgs) -> Result<(), Failure> {
    let settings = read(layers)?;
    let outbound = Outbound::open(&settings.outbound).map_err(Failure::Usage)?;
    let env = Env::system().reaching(outbound);
    let mut manifest = weft_node::manifest(&args.manifest).map_err(|e| Failure::Usage(e.to_string()))?;
    let telemetry = init(&settings, &format!("node {}", manifest.node.id), None, &env)?;
    let keys = mesh_keys(&args, env.outbound()).await?;
    let trust = trusting(&keys, &manifest.node).map_err(Failure::Usage)?;
    let (listener, address) = serve::bind(&args.listen).await.map_err(Failure::Usage)?;
    if manifest.node.address.is_empty() {
        manifest.node.address = format!("http://{address}");
    }
    let base = manifest.node.address.clone();
    let place = Place {
        base_dir: args.manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf),
        data_dir: Path::new(&settings.mesh.data).join("nodes"),
    };
    let host = Host::open(manifest, place, trust, &settings.node, &env)
        .await
        .map_err(|e| Failure::Usage(e.to_string()))?;
    let out = Out::new(false);
    out.line(&format!("node {} is up at {address} (pid {})", host.id(), process::id()));
    out.line(&format!("  its manifest in the mesh's folder needs: address = \"{base}\""));
    let stopping = env.clone();
    env.spawn(async move {
        // Without signals the node stays until it is killed.
        if stop_signal().await.is_ok() {
            stopping.stop().cancel();
        }
    });
    let served = weft_node::serve(listener, host, env.clone()).await;
    env.drain(std::time::Duration::from_millis(settings.mesh.drain_ms)).await;
    telemetry.shutdown().await;
    served.map_err(|e| Failure::Mesh(format!("the listener broke: {e}")))
}

async fn mesh_keys(args: &NodeArgs, outbound: &Outbound) -> Result<Vec<PublicKey>, Failure> {
    let set = match &args.mesh_keys {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|e| Failure::Usage(format!("--mesh-keys {}: cannot be read: {e}", file.display())))?,
        None => document(&args.mesh, "/.well-known/jwks.json", outbound.clone()).await?,
    };
    keys_in(&set).map_err(Failure::Usage)
}
