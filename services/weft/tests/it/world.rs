//! A whole mesh in this process, in either of its forms.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft::mesh::{Mesh, Plan};
use weft::roles::Role;
use weft::settings::Settings;
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

    /// With settings changed from those of the tests, as pairs of `section.key` and value. `role/section.key` changes
    /// it for that role only, when it runs apart.
    ///
    /// # Errors
    /// What the mesh said when it did not start.
    pub(crate) async fn with(
        form: Form,
        fleet: &Path,
        data: &Path,
        changes: &[(&str, &str)],
    ) -> Result<World, String> {
        let mut given = vec![
            ("mesh.data", data.to_str().unwrap()),
            ("catalog.dir", fleet.to_str().unwrap()),
            ("edge.http", "127.0.0.1:0"),
            // What a test leaves running is not waited for.
            ("mesh.drain_ms", "5000"),
            ("bridge.drain_ms", "0"),
            ("edge.drain_ms", "500"),
            ("tasks.lease_ms", "1500"),
        ];
        given.extend_from_slice(changes);
        let roles: Vec<Option<Role>> = match form {
            Form::Together => vec![None],
            Form::Apart => Role::ALL.map(Some).into(),
        };
        let (mut meshes, mut addresses) = (Vec::new(), BTreeMap::new());
        for role in roles {
            match Mesh::start(plan(role, &addresses, &given), Env::system()).await {
                Ok(mesh) => {
                    let found = Role::ALL
                        .into_iter()
                        .filter_map(|role| Some((role, mesh.address(role)?.to_string())));
                    addresses.extend(found);
                    meshes.push(mesh);
                }
                Err(problem) => {
                    stop(meshes).await;
                    return Err(problem);
                }
            }
        }
        let client = Client::new(&format!("http://{}", addresses[&Role::Edge]));
        Ok(World { meshes, client })
    }

    /// The all-in-one with these settings.
    ///
    /// # Errors
    /// What the mesh said when it did not start.
    pub(crate) async fn of(settings: Settings) -> Result<World, String> {
        let mesh = Mesh::start(Plan::all_in_one(settings), Env::system()).await?;
        let address = mesh.address(Role::Edge).ok_or("the edge has no address")?;
        Ok(World { client: Client::new(&format!("http://{address}")), meshes: vec![mesh] })
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

/// What to start: everything, or one role that is told where the roles before it listen.
fn plan(role: Option<Role>, addresses: &BTreeMap<Role, String>, given: &[(&str, &str)]) -> Plan {
    let mut changes: Vec<(String, String)> = Vec::new();
    for service in Role::ALL.into_iter().filter(|service| role.is_some() && *service != Role::Edge) {
        let key = service.name().replace('-', "_");
        changes.push((format!("listen.{key}"), "127.0.0.1:0".to_owned()));
        let known =
            addresses.get(&service).map(|address| (format!("peers.{key}"), format!("http://{address}")));
        changes.extend(known);
    }
    for (path, value) in given {
        let meant = match path.split_once('/') {
            None => Some(*path),
            Some((name, path)) => (role.is_some_and(|role| role.name() == name)).then_some(path),
        };
        changes.extend(meant.map(|path| (path.to_owned(), (*value).to_owned())));
    }
    let changes: Vec<_> = changes.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
    let settings = settings(&changes);
    match role {
        None => Plan::all_in_one(settings),
        Some(role) => Plan::apart(&[role], settings),
    }
}

/// The defaults with these changes.
pub(crate) fn settings(changes: &[(&str, &str)]) -> Settings {
    let mut layers = weft::settings::layers();
    for (path, value) in changes {
        let doc = *layers.docs().iter().find(|doc| doc.path() == *path).unwrap_or_else(|| panic!("{path}"));
        layers.text(doc, value, "a test").unwrap();
    }
    Settings::read(&layers).unwrap()
}
