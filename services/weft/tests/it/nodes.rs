//! Nodes in processes of their own: sealed calls over a socket, and what becomes of work when either side dies.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use weft_proto::a2a::TaskState;

use crate::client::{artifacts, said, said_at_once, state};
use crate::process::{Deployment, Process, command, free_port};
use crate::world::{Form, fleet};

/// A key pair that no mesh of ours has (RFC 8037, appendix A.2); its public half.
const FOREIGN: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

/// A mesh whose only node is elsewhere.
struct Apart {
    mesh: Deployment,
    manifest: PathBuf,
    listen: String,
    dir: PathBuf,
}

impl Apart {
    async fn start(dir: &Path) -> Apart {
        let (folder, listen) = (dir.join("fleet"), format!("127.0.0.1:{}", free_port()));
        fs::create_dir(&folder).unwrap();
        fs::copy(fleet().join("mesh.toml"), folder.join("mesh.toml")).unwrap();
        let play = fs::read_to_string(fleet().join("play.toml")).unwrap();
        let play =
            play.replace("id = \"play\"\n", &format!("id = \"play\"\naddress = \"http://{listen}\"\n"));
        // The second try counts only under the key of the first: another key would begin another turn.
        let play = play.replace("attempt = 2", "attempt = 2, turn = 1");
        let manifest = folder.join("play.toml");
        fs::write(&manifest, play).unwrap();
        let folder = format!("--catalog-dir={}", folder.display());
        let flags = [
            folder.as_str(),
            "--tasks-lease-ms=1000",
            "--bridge-drain-ms=100",
            "--bridge-unreachable-ms=60000",
        ];
        let mesh = Deployment::start(Form::Apart, dir, &flags, &[]).await;
        Apart { mesh, manifest, listen, dir: dir.to_owned() }
    }

    /// Starts the node; with `keys` it trusts these instead of the mesh's.
    async fn node(&self, keys: Option<&str>) -> Process {
        let data = format!("--mesh-data={}", self.dir.join("node").display());
        let mut args = vec!["node", self.manifest.to_str().unwrap(), "--listen", &self.listen, &data];
        let file = self.dir.join("keys.json");
        match keys {
            Some(keys) => {
                fs::write(&file, keys).unwrap();
                args.extend(["--mesh-keys", file.to_str().unwrap()]);
            }
            None => args.extend(["--mesh", &self.mesh.client.base]),
        }
        let started = Process::start(command(&args), &self.dir.join("node.log")).await;
        started.unwrap_or_else(|problem| panic!("the node {problem}"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_hears_the_same_key_again_when_the_bridge_died() {
    let dir = tempfile::tempdir().unwrap();
    let mut apart = Apart::start(dir.path()).await;
    let node = apart.node(None).await;
    // In its first second a node refuses every seal, and each try of the bridge is an attempt.
    apart.mesh.client.send(&said("echo ready"), &[]).await.unwrap();
    let task = apart.mesh.client.send(&said_at_once("again"), &[]).await.unwrap();
    apart.mesh.client.until(&task.id, |task| format!("{:?}", task.status).contains("first try")).await;
    apart.mesh.kill("bridge");
    apart.mesh.revive("bridge").await;
    let finished = apart.mesh.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&finished), "second try");
    assert_eq!(node.signal(Signal::TERM).await.code(), Some(0));
    apart.mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_for_a_node_that_is_away_waits_and_says_so_and_is_done_when_it_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut apart = Apart::start(dir.path()).await;
    let task = apart.mesh.client.send(&said_at_once("echo late"), &[]).await.unwrap();
    let waiting = |task: &weft_proto::a2a::Task| format!("{:?}", task.status).contains("cannot be reached");
    let seen = apart.mesh.client.until(&task.id, waiting).await;
    assert_eq!(state(&seen), TaskState::Working, "away is not failed");
    let node = apart.node(None).await;
    let finished = apart.mesh.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&finished), "echo late");
    // Killed and started again at once: what is sent meanwhile is done too.
    node.kill();
    let task = apart.mesh.client.send(&said_at_once("echo later"), &[]).await.unwrap();
    let node = apart.node(None).await;
    let finished = apart.mesh.client.until(&task.id, |task| state(task) != TaskState::Working).await;
    assert_eq!(artifacts(&finished), "echo later", "{finished:?}");
    assert_eq!(node.signal(Signal::TERM).await.code(), Some(0));
    apart.mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_trusts_another_mesh_refuses_and_the_task_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut apart = Apart::start(dir.path()).await;
    let node = apart.node(Some(FOREIGN)).await;
    let task = apart.mesh.client.send(&said("echo nobody hears"), &[]).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed, "{task:?}");
    assert!(format!("{:?}", task.status).contains("SEAL_REFUSED"), "{:?}", task.status);
    assert!(!format!("{task:?}").contains("Artifact"), "nothing came of it");
    assert_eq!(node.signal(Signal::TERM).await.code(), Some(0));
    apart.mesh.stop().await;
}
