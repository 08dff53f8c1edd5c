//! No hands: nothing that the binary is made of starts a process, and only one place calls nodes. Sources are scanned,
//! the project's own whole, those of its dependencies against a list with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use weft::roles::Role;

/// What `std::process` gives that starts nothing.
const HARMLESS: [&str; 3] = ["ExitCode", "exit", "id"];

/// Traces of starting a process without the standard library.
const SPAWNING: [&str; 5] = ["posix_spawn", "execve", "execvp", "vfork", "libc::fork"];

/// Dependencies in whose sources such a trace stands, and why the binary cannot start anything by it.
const EXCUSED: [(&str, &str); 3] = [
    ("libc", "declares what the system has; calling it needs `unsafe`, which the workspace forbids"),
    ("portable-atomic", "only the unit tests of its processor detection do"),
    ("tokio", "its module `process` is behind the feature of that name, which is off"),
];

/// Where the project's own sources may open connections, and to whom.
const CONNECTING: [(&str, &str); 14] = [
    ("services/chassis/src/outbound.rs", "nobody: makes the clients of the places below"),
    ("services/chassis/src/outbound/proxy.rs", "nobody: says where the proxy is"),
    ("services/chassis/src/outbound/resolve.rs", "nobody: turns the proxy's name into addresses"),
    ("services/chassis/src/peer.rs", "other services of the mesh, over gRPC"),
    (
        "services/client/src/http.rs",
        "A2A agents, from the command line and behind a node: the one stack of the client",
    ),
    ("services/executor-bridge/src/door.rs", "nodes: the one way out"),
    ("services/executor-bridge/src/door/http_client.rs", "nodes: the one way out"),
    ("services/executor-bridge/src/door/reply.rs", "nodes: the one way out"),
    ("services/node/src/source/fetch.rs", "a node's own source, not a node"),
    ("services/signer/src/access/fetch.rs", "identity providers of the access file, for their keys"),
    ("services/tasks/src/ledger/push/read.rs", "an address, read only"),
    ("services/tasks/src/push/call.rs", "webhooks"),
    ("services/tasks/src/push/courier.rs", "webhooks"),
    ("services/tasks/src/push/guard.rs", "webhooks: where they may lie"),
];

/// Traces of opening a connection.
const CONNECTS: [&str; 6] = [
    "reqwest::",
    "hyper_util::client",
    "hyper::client",
    "transport::{Endpoint",
    "Endpoint::",
    "TcpStream::connect",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    id: String,
    /// Unset for a crate of the workspace.
    source: Option<String>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: BTreeSet<String>,
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
    features: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// Unset for what ends up in the binary, as opposed to build scripts and tests.
    kind: Option<String>,
}

/// Every crate that is linked into the binary, by name.
fn linked() -> BTreeMap<String, (Package, BTreeSet<String>)> {
    let metadata = metadata();
    let mut packages: BTreeMap<_, _> = metadata.packages.into_iter().map(|p| (p.id.clone(), p)).collect();
    let nodes: BTreeMap<_, _> =
        metadata.resolve.nodes.into_iter().map(|node| (node.id.clone(), node)).collect();
    let binary = packages.values().find(|p| p.name == "weft" && p.source.is_none()).unwrap().id.clone();
    let (mut linked, mut next) = (BTreeMap::new(), vec![binary]);
    while let Some(id) = next.pop() {
        // Seen before, or at work only while compiling.
        let Some(package) = packages.remove(&id) else { continue };
        if package.targets.iter().any(|target| target.kind.contains("proc-macro")) {
            continue;
        }
        let normal = nodes[&id].deps.iter().filter(|d| d.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        next.extend(normal.map(|dependency| dependency.pkg.clone()));
        linked.insert(id.clone(), (package, nodes[&id].features.clone()));
    }
    linked
}

fn metadata() -> Metadata {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The lines of a crate's library and binaries that are not comments, each with where it stands.
fn lines(package: &Package) -> Vec<(PathBuf, usize, String)> {
    let roots: BTreeSet<&Path> = package
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(|kind| kind.ends_with("lib") || kind == "bin"))
        .filter_map(|target| target.src_path.parent())
        .collect();
    let mut found = Vec::new();
    for root in roots {
        let mut next = vec![root.to_path_buf()];
        while let Some(path) = next.pop() {
            if path.is_dir() {
                next.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
                found.extend(code.map(|(at, line)| (path.clone(), at + 1, line.to_owned())));
            }
        }
    }
    assert!(!found.is_empty(), "{} has no sources", package.name);
    found
}

/// Unit tests in files of their own connect to what they test.
fn is_test(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The names that a line takes from a module `process`.
fn uses_of_process(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("process::").flat_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        let end = |c: char| !c.is_alphanumeric() && c != '_';
        let names = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => &rest[..rest.find(end).unwrap_or(rest.len())],
        };
        names.split(',').map(str::trim)
    })
}

/// True for a line that may start a process.
fn starts_something(line: &str) -> bool {
    uses_of_process(line).any(|name| name == "Command" || name == "*")
        || SPAWNING.iter().any(|mark| line.contains(mark))
}

#[test]
fn no_crate_of_the_project_that_the_binary_reaches_starts_a_process() {
    let own: Vec<_> =
        linked().into_values().map(|(package, _)| package).filter(|p| p.source.is_none()).collect();
    let names: BTreeSet<_> = own.iter().map(|package| package.name.as_str()).collect();
    for name in ["weft", "weft-edge", "weft-node", "weft-tasks", "weft-proto"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    for (path, at, line) in own.iter().flat_map(lines) {
        let place = format!("{}:{at}: {line}", path.display());
        for name in uses_of_process(&line) {
            assert!(HARMLESS.contains(&name), "{place}");
        }
        assert!(!starts_something(&line), "{place}");
        for mark in ["Command::new", "libc::", "rustix::", "nix::unistd"] {
            assert!(!line.contains(mark), "{place}");
        }
    }
}

#[test]
fn no_dependency_that_the_binary_reaches_starts_a_process() {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for (package, features) in linked().into_values().filter(|(package, _)| package.source.is_some()) {
        if package.name == "tokio" {
            assert!(!features.contains("process"), "tokio can start processes: switch its feature off");
        }
        for (path, at, line) in lines(&package) {
            if starts_something(&line) {
                found.entry(package.name.clone()).or_insert(format!("{}:{at}: {line}", path.display()));
            }
        }
    }
    let excused: BTreeMap<_, _> = EXCUSED.into();
    for (name, place) in &found {
        assert!(excused.contains_key(name.as_str()), "{name} may start processes; look at it: {place}");
    }
    for (name, reason) in excused {
        assert!(found.contains_key(name), "{name} needs no excuse any more ({reason})");
    }
}

#[test]
fn nodes_are_called_from_one_place_and_every_other_connection_has_a_reason() {
    let (root, reasons) = (workspace(), BTreeMap::from(CONNECTING));
    let mut connecting = BTreeSet::new();
    for (package, _) in linked().into_values().filter(|(package, _)| package.source.is_none()) {
        for (path, at, line) in lines(&package) {
            if !is_test(&path) && CONNECTS.iter().any(|mark| line.contains(mark)) {
                let file = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                assert!(reasons.contains_key(file.as_str()), "{file}:{at} opens connections: {line}");
                connecting.insert(file);
            }
        }
    }
    let known: BTreeSet<String> = reasons.keys().map(|file| (*file).to_owned()).collect();
    assert_eq!(connecting, known, "a place that needs no reason any more");
}

#[test]
fn a_role_gets_its_peers_by_the_table_only() {
    let sources =
        ["services/weft/src/mesh.rs", "services/weft/src/mesh/gate.rs", "services/weft/src/mesh/hosted.rs"];
    let code: String = sources.map(|file| fs::read_to_string(workspace().join(file)).unwrap()).concat();
    // Both stand in the function that looks into the table; the other way to a peer is the telemetry's to the journal.
    assert_eq!(code.matches("peer::remote(").count(), 2);
    assert_eq!(code.matches("self.here.get(").count(), 1);
    assert!(code.contains("caller.callees().contains(&callee)"));
}

#[test]
fn the_table_of_calls_is_the_one_that_the_architecture_shows() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let table = text.split_once("| caller | callees |").unwrap().1;
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let names = |cell: &str| cell.split(", ").filter(|name| *name != "–").map(str::to_owned).collect();
        for caller in cells[1].split(", ") {
            shown.insert(caller.to_owned(), names(cells[2]));
        }
    }
    let table = Role::ALL.map(|role| {
        (role.name().to_owned(), role.callees().iter().map(|callee| callee.name().to_owned()).collect())
    });
    assert_eq!(shown, BTreeMap::from(table));
}
