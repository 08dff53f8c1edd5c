//! A folder of manifests, and the catalog that reads it.

use std::time::Duration;

use tempfile::TempDir;
use tonic::Streaming;
use weft_catalog::{Handle, Settings};
use weft_chassis::{Env, Peer, peer};
use weft_proto::weft::catalog_client::CatalogClient;
use weft_proto::weft::health::State;
use weft_proto::weft::{Health, Node, ReportRequest, Snapshot, Tool, WatchRequest};

pub(crate) const MESH: &str = "[mesh]\nname = \"Weft\"\ndescription = \"a fleet\"\nversion = \"1.0.0\"\n";

pub(crate) struct World {
    pub(crate) catalog: CatalogClient<Peer>,
    pub(crate) handle: Handle,
    pub(crate) env: Env,
    pub(crate) folder: TempDir,
}

/// A node with one tool `ID.rows` and one capability `ID.ask`.
pub(crate) fn node(id: &str, role: &str) -> String {
    format!(
        "[node]\nid = \"{id}\"\nname = \"Node\"\nrole = \"{role}\"\n\
         [[tool]]\nname = \"{id}.rows\"\ndescription = \"rows\"\nsource = {{ kind = \"json\", file = \"a.json\" }}\n\
         fields = [\"a\"]\n\
         [[capability]]\nid = \"{id}.ask\"\nname = \"Ask\"\ndescription = \"d\"\nexamples = [\"e\"]\ntool = \"{id}.rows\"\n"
    )
}

impl World {
    /// `mesh.toml` and these files; silence of more than 10 s counts.
    pub(crate) fn open(files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mesh.toml"), MESH).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        World::over(folder, |_| {})
    }

    pub(crate) fn over(folder: TempDir, set: impl FnOnce(&mut Settings)) -> World {
        let mut settings = Settings { stale_ms: 10_000, poll_ms: 1_000, ..Settings::default() };
        settings.dir = folder.path().display().to_string();
        set(&mut settings);
        let env = Env::simulated(1);
        let (routes, handle) =
            weft_catalog::routes(&settings, &env).unwrap_or_else(|problems| panic!("{problems}"));
        World { catalog: CatalogClient::new(peer::local(routes)), handle, env, folder }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) async fn watch(&self) -> Streaming<Snapshot> {
        self.catalog.clone().watch(WatchRequest {}).await.unwrap().into_inner()
    }

    /// Reports a node as up, serving these tools; the differences.
    pub(crate) async fn report(&self, node: &str, tools: &[&str]) -> Vec<String> {
        let tool =
            |name: &&str| Tool { name: (*name).to_owned(), description: String::new(), read_only: true };
        let health = Health { state: State::Up.into(), seen: Some(self.env.now()), ..Health::default() };
        let request = ReportRequest {
            node: node.into(),
            health: Some(health),
            tools: tools.iter().map(tool).collect(),
            agent_backed: true,
        };
        self.catalog.clone().report(request).await.unwrap().into_inner().differences
    }
}

/// The next snapshot, or a failure when there is none for long.
pub(crate) async fn next(stream: &mut Streaming<Snapshot>) -> Snapshot {
    let next = tokio::time::timeout(Duration::from_secs(60), stream.message()).await;
    next.expect("no snapshot came").unwrap().expect("the stream ended")
}

pub(crate) fn of<'s>(snapshot: &'s Snapshot, id: &str) -> &'s Node {
    snapshot.nodes.iter().find(|node| node.id == id).unwrap()
}

pub(crate) fn state(snapshot: &Snapshot, id: &str) -> Option<State> {
    of(snapshot, id).health.as_ref().map(Health::state)
}
