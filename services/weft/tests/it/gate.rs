//! The start-up gate: a difference between what is advertised, dispatched, offered and served refuses the start and is
//! printed, whichever side it is on.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use weft::mesh::{Mesh, Plan};
use weft::roles::Role;
use weft_chassis::{Env, serve};
use weft_node::{Host, Place};
use weft_seal::Trust;

use crate::world::{Form, World, fleet, settings};

/// A tool of the test node.
fn tool(name: &str) -> String {
    format!("[[tool]]\nname = \"{name}\"\ndescription = \"plays\"\nsource = {{ kind = \"scenario\" }}\n")
}

fn capability(id: &str) -> String {
    format!(
        "[[capability]]\nid = \"{id}\"\nname = \"{id}\"\ndescription = \"plays\"\nexamples = [\"{id} please\"]\n\
         tool = \"play.rules\"\n"
    )
}

/// A node's manifest with one rule.
fn manifest(address: &str, tools: &[&str], capabilities: &[&str]) -> String {
    let head = format!("[node]\nid = \"play\"\nname = \"Play\"\nrole = \"plays\"\naddress = \"{address}\"\n");
    let rule = "[[scenario.rule]]\nname = \"all\"\n[[scenario.rule.step]]\nanswer = \"{text}\"\n";
    let tools = tools.iter().map(|name| tool(name));
    let capabilities = capabilities.iter().map(|id| capability(id));
    tools.chain(capabilities).fold(head, |text, more| text + &more) + rule
}

/// A fleet's folder with this node.
fn folder(dir: &Path, manifest: &str) {
    fs::create_dir_all(dir).unwrap();
    fs::copy(fleet().join("mesh.toml"), dir.join("mesh.toml")).unwrap();
    fs::write(dir.join("play.toml"), manifest).unwrap();
}

/// A node on a port that serves these tools, whatever a catalog says of it.
async fn node(tools: &[&str], env: &Env) -> String {
    let (listener, address) = serve::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{address}");
    let manifest =
        weft_core::manifest::Manifest::parse("play.toml", &manifest(&address, tools, &[])).unwrap();
    let place = Place { base_dir: ".".into(), data_dir: ".".into() };
    let host = Host::open(manifest, place, Trust::new(), &weft_node::Settings::default(), env).await.unwrap();
    let serving = env.clone();
    env.spawn(async move { weft_node::serve(listener, host, serving).await.unwrap() });
    address
}

/// Starts a mesh that declares `declared` of a node that serves `served`; what it says.
async fn started(form: Form, declared: &[&str], served: &[&str]) -> Result<(), String> {
    let (env, dir) = (Env::system(), tempfile::tempdir().unwrap());
    let address = node(served, &env).await;
    folder(dir.path(), &manifest(&address, declared, &["play.rules"]));
    let started = World::with(form, dir.path(), &dir.path().join("data"), &[]).await;
    let outcome = match started {
        Ok(world) => {
            world.stop().await;
            Ok(())
        }
        Err(problem) => Err(problem),
    };
    env.drain(Duration::from_secs(5)).await;
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_starts_when_every_node_serves_what_its_manifest_declares() {
    started(Form::Together, &["play.rules", "play.more"], &["play.more", "play.rules"]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_a_node_does_not_serve_refuses_the_start_and_is_named() {
    for form in Form::BOTH {
        let said = started(form, &["play.rules", "play.gone"], &["play.rules"]).await.unwrap_err();
        let line = "tool play.gone of node play: in the manifest, not in the running node";
        assert!(said.contains(line), "{form:?}: {said}");
        assert!(said.contains("catalog.dir"), "it says what to do: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_no_manifest_declares_refuses_the_start_and_is_named() {
    let said = started(Form::Together, &["play.rules"], &["play.rules", "play.secret"]).await.unwrap_err();
    assert!(
        said.contains("tool play.secret of node play: in the running node, not in the manifest"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_difference_is_printed_not_only_the_first() {
    let said =
        started(Form::Together, &["play.rules", "play.a"], &["play.rules", "play.b"]).await.unwrap_err();
    assert!(said.contains("tool play.a ") && said.contains("tool play.b "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_that_dispatches_another_list_refuses_the_start_of_the_edge() {
    let dir = tempfile::tempdir().unwrap();
    let (advertised, dispatched) = (dir.path().join("advertised"), dir.path().join("dispatched"));
    folder(&advertised, &manifest("", &["play.rules"], &["play.rules", "play.advertised"]));
    folder(&dispatched, &manifest("", &["play.rules"], &["play.rules", "play.dispatched"]));
    // The same revision, although the lists differ: the edge must not take the one for the other.
    for folder in [&advertised, &dispatched] {
        for file in [folder.join("mesh.toml"), folder.join("play.toml"), folder.clone()] {
            File::open(file).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(1_767_225_600)).unwrap();
        }
    }
    let own = [("listen.catalog", "127.0.0.1:0"), ("catalog.dir", dispatched.to_str().unwrap())];
    let other = Mesh::start(Plan::apart(&[Role::Catalog], settings(&own)), Env::system()).await.unwrap();
    let elsewhere = format!("http://{}", other.address(Role::Catalog).unwrap());
    let changes = [("executor-bridge/peers.catalog", elsewhere.as_str())];
    let started = World::with(Form::Apart, &advertised, &dir.path().join("data"), &changes).await;
    let said = started.err().expect("the start is refused");
    for line in [
        "capability play.advertised: in the card and the console, not in dispatch",
        "capability play.dispatched: in dispatch, not in the card and the console",
    ] {
        assert!(said.contains(line), "{said}");
    }
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_away_is_unknown_and_does_not_refuse_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let (listener, address) = serve::bind("127.0.0.1:0").await.unwrap();
    drop(listener);
    folder(dir.path(), &manifest(&format!("http://{address}"), &["play.rules"], &["play.rules"]));
    let world = World::with(Form::Together, dir.path(), &dir.path().join("data"), &[]).await.unwrap();
    assert!(world.client.get("/readyz").await.is_ok());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_cannot_be_used_is_named_with_file_key_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    folder(
        dir.path(),
        &manifest("", &["play.rules"], &["play.rules"]).replace("play.rules\"\n[[sc", "play.none\"\n[[sc"),
    );
    let said = World::with(Form::Together, dir.path(), &dir.path().join("data"), &[]).await.err().unwrap();
    for part in ["the catalog cannot start", "play.toml", "play.none"] {
        assert!(said.contains(part), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_below_a_path_prefix_starts_and_answers_there() {
    let dir = tempfile::tempdir().unwrap();
    let changes = [
        ("catalog.dir", fleet().to_str().unwrap().to_owned()),
        ("mesh.data", dir.path().to_str().unwrap().to_owned()),
        ("edge.http", "127.0.0.1:0".to_owned()),
        ("edge.base_path", "/teams/mesh".to_owned()),
    ];
    let changes: Vec<_> = changes.iter().map(|(path, value)| (*path, value.as_str())).collect();
    let mesh = Mesh::start(Plan::all_in_one(settings(&changes)), Env::system()).await.unwrap();
    let address = mesh.address(Role::Edge).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let get = |path: &str| client.get(format!("http://{address}{path}")).send();
    let card = get("/teams/mesh/.well-known/agent-card.json").await.unwrap().text().await.unwrap();
    assert!(card.contains("/teams/mesh/a2a"), "{card}");
    assert_eq!(get("/.well-known/agent-card.json").await.unwrap().status(), 404);
    mesh.stop().await;
}
