//! All files of a fleet together, and what must hold between them.

use std::collections::BTreeMap;

use weft_proto::weft;

use super::{MESH_FILE, Manifest, Mesh, Problem, Problems};

/// Most nodes of a fleet.
pub const NODES_MAX: usize = 256;

/// A whole fleet, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// The mesh itself.
    pub mesh: Mesh,
    /// One a node, sorted by node id.
    pub nodes: Vec<Manifest>,
}

impl Fleet {
    /// Reads pairs of file name and text; one of them is `mesh.toml`.
    ///
    /// # Errors
    /// Everything that is wrong, in all files and between them.
    pub fn parse<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Fleet, Problems> {
        let (mut mesh, mut nodes, mut problems) = (None, Vec::new(), Vec::new());
        for (name, text) in files {
            if name == MESH_FILE {
                Mesh::parse(text).map_or_else(|wrong| problems.extend(wrong.0), |read| mesh = Some(read));
            } else {
                Manifest::parse(name, text)
                    .map_or_else(|wrong| problems.extend(wrong.0), |read| nodes.push(read));
            }
        }
        // Links between files are judged only when every file could be read: else they would blame the wrong one.
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let Some(mesh) = mesh else {
            return Err(Problems(vec![Problem::new(
                MESH_FILE,
                "",
                "",
                "missing: every fleet declares its mesh in it",
            )]));
        };
        nodes.sort_by(|a, b| a.node.id.cmp(&b.node.id));
        let fleet = Fleet { mesh, nodes };
        let problems = fleet.links();
        if problems.is_empty() { Ok(fleet) } else { Err(Problems(problems)) }
    }

    /// The manifest of a node.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&Manifest> {
        self.nodes.iter().find(|manifest| manifest.node.id == id)
    }

    /// What the catalog says before it knows anything of health: the mesh's own capabilities last, each file's in
    /// declared order. `revision` and `changed` are left empty.
    #[must_use]
    pub fn snapshot(&self) -> weft::Snapshot {
        let own = self.nodes.iter().flat_map(|manifest| &manifest.capabilities);
        weft::Snapshot {
            mesh: Some(self.mesh.info.clone()),
            nodes: self.nodes.iter().map(|manifest| manifest.node.clone()).collect(),
            capabilities: own.chain(&self.mesh.capabilities).cloned().collect(),
            ..weft::Snapshot::default()
        }
    }

    fn links(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.nodes.len() > NODES_MAX {
            let remedy = format!("{} nodes are declared: must be at most {NODES_MAX}", self.nodes.len());
            problems.push(Problem::new(MESH_FILE, "", "", remedy));
        }
        let mut ids: BTreeMap<&str, &str> = BTreeMap::new();
        for Manifest { file, node, .. } in &self.nodes {
            if let Some(first) = ids.insert(&node.id, file) {
                let remedy = format!("{first} declares the same node: change one id");
                problems.push(Problem::new(file, "node.id", format!("\"{}\"", node.id), remedy));
            }
        }
        let own = self.nodes.iter().flat_map(|m| m.capabilities.iter().map(move |c| (m.file.as_str(), c)));
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (file, capability) in own.chain(self.mesh.capabilities.iter().map(|c| (MESH_FILE, c))) {
            if let Some(first) = seen.insert(&capability.id, file) {
                let remedy = format!("{first} declares the same capability: change one id");
                problems.push(Problem::new(file, "capability", format!("\"{}\"", capability.id), remedy));
            }
            problems.extend(self.dangling(file, capability));
        }
        problems
    }

    /// What is wrong with a capability's target.
    fn dangling(&self, file: &str, capability: &weft::Capability) -> Option<Problem> {
        let weft::capability::Target::Tool(target) = capability.target.as_ref()?;
        let at = |key: &str| format!("capability({}).{key}", capability.id);
        let Some(manifest) = self.node(&target.node) else {
            let ids: Vec<_> = self.nodes.iter().map(|m| m.node.id.as_str()).collect();
            let remedy = format!("no file declares this node; declared are {}", ids.join(", "));
            return Some(Problem::new(file, &at("node"), format!("\"{}\"", target.node), remedy));
        };
        if manifest.tool(&target.tool).is_some() {
            return None;
        }
        let tools: Vec<_> = manifest.tools.iter().map(|t| t.name.as_str()).collect();
        let remedy = format!("node {} has no such tool; it has {}", target.node, tools.join(", "));
        Some(Problem::new(file, &at("tool"), format!("\"{}\"", target.tool), remedy))
    }
}
