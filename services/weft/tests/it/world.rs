//! A whole mesh in this process, in either of its forms.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft::mesh::{Mesh, Plan};
use weft::roles::Role;
use weft::settings::{self, Settings};
use weft_chassis::Env;

use crate::client::Client;

/// The two forms of one mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Every role in one process, reached as values.
    Together,
    /// Every role with a port and an environment of its own, reached over gRPC.
    Apart,
}

/// A running mesh.
pub(crate) struct World {
    /// In the order in which they were started.
    meshes: Vec<Mesh>,
    pub(crate) client: Client,
}

impl Form {
    pub(crate) const BOTH: [Form; 2] = [Form::Together, Form::Apart];
}

/// The folder of the test fleet.
pub(crate) fn fleet() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fleet")
}

impl World {
    /// A mesh of the test fleet that keeps what it knows in `data`.
    pub(crate) async fn start(form: Form, data: &Path) -> World {
        World::with(form, &fleet(), data, &[]).await.unwrap_or_else(|problem| panic!("{form:?}: {problem}"))
    }

    /// With settings changed from those of the tests, as pairs of `section.key` and value.
    ///
    /// # Errors
    /// What the mesh said when it did not start.
    pub(crate) async fn with(form: Form, fleet: &Path, data: &Path, changes: &[(&str, &str)]) -> Result<World, String> {
        let mut all = vec![
            ("mesh.data", data.to_str().unwrap()),
            ("catalog.dir", fleet.to_str().unwrap()),
            ("edge.http", "127.0.0.1:0"),
            // What a test leaves running is not waited for.
            ("mesh.drain_ms", "5000"),
            ("bridge.drain_ms", "0"),
            ("edge.drain_ms", "500"),
            ("tasks.lease_ms", "1500"),
        ];
        all.extend_from_slice(changes);
        let (mut meshes, mut addresses) = (Vec::new(), BTreeMap::new());
        for plan in plans(form, &all) {
            let mesh = match Mesh::start(plan(&addresses), Env::system()).await {
                Ok(mesh) => mesh,
                Err(problem) => {
                    stop(meshes).await;
                    return Err(problem);
                }
            };
            addresses.extend(Role::ALL.into_iter().filter_map(|role| Some((role, mesh.address(role)?.to_string()))));
            meshes.push(mesh);
        }
        let client = Client::new(&format!("http://{}", addresses[&Role::Edge]));
        Ok(World { meshes, client })
    }

    /// Stops it. True when nothing was left running.
    pub(crate) async fn stop(self) -> bool {
        stop(self.meshes).await
    }
}

/// Callers before callees.
async fn stop(meshes: Vec<Mesh>) -> bool {
    let mut clean = true;
    for mesh in meshes.into_iter().rev() {
        clean &= mesh.stop().await;
    }
    clean
}

type Addresses = BTreeMap<Role, String>;

/// What to start, in order; each plan is told where the roles before it listen.
fn plans<'a>(form: Form, changes: &'a [(&'a str, &'a str)]) -> Vec<Box<dyn Fn(&Addresses) -> Plan + 'a>> {
    match form {
        Form::Together => vec![Box::new(move |_| Plan::all_in_one(read(changes, &[])))],
        Form::Apart => Role::ALL
            .into_iter()
            .map(|role| -> Box<dyn Fn(&Addresses) -> Plan + 'a> {
                Box::new(move |addresses| Plan::apart(&[role], read(changes, &network(addresses))))
            })
            .collect(),
    }
}

/// Any free port for the role itself, the known ones for those before it.
fn network(addresses: &Addresses) -> Vec<(String, String)> {
    let services = Role::ALL.into_iter().filter(|role| *role != Role::Edge);
    services
        .flat_map(|role| {
            let key = role.name().replace('-', "_");
            let known = addresses.get(&role).map(|address| (format!("peers.{key}"), format!("http://{address}")));
            [Some((format!("listen.{key}"), "127.0.0.1:0".to_owned())), known].into_iter().flatten()
        })
        .collect()
}

fn read(changes: &[(&str, &str)], more: &[(String, String)]) -> Settings {
    let mut layers = settings::layers();
    let more = more.iter().map(|(path, value)| (path.as_str(), value.as_str()));
    for (path, value) in changes.iter().copied().chain(more) {
        let doc = *layers.docs().iter().find(|doc| doc.path() == path).unwrap_or_else(|| panic!("{path}"));
        layers.text(doc, value, "a test").unwrap();
    }
    Settings::read(&layers).unwrap()
}
