//! `mesh.toml`: what the mesh says of itself, and capabilities that belong to no single node's file.

use weft_proto::{a2a, weft};

use super::reader::Reader;
use super::{MESH_FILE, Problems, capability, node, read};

/// The declared mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Public texts of the card.
    pub info: weft::MeshInfo,
    /// Capabilities that name their node.
    pub capabilities: Vec<weft::Capability>,
}

impl Mesh {
    /// Reads `mesh.toml`.
    ///
    /// # Errors
    /// Everything that is wrong within this file.
    pub fn parse(text: &str) -> Result<Mesh, Problems> {
        read(MESH_FILE, text, |root| Mesh { info: info(root), capabilities: capability::all(root, None) })
    }
}

fn info(root: &Reader<'_>) -> weft::MeshInfo {
    let Some(section) = root.table("mesh") else {
        if !root.has("mesh") {
            root.wrong("mesh", "", "declare the mesh in a section [mesh] with name, description, version");
        }
        return weft::MeshInfo::default();
    };
    let documentation_url = section.text("documentation_url", 2_048);
    if !documentation_url.is_empty() && !node::is_http(&documentation_url) {
        section.wrong(
            "documentation_url",
            format!("\"{documentation_url}\""),
            "must be an absolute http(s) URL",
        );
    }
    let info = weft::MeshInfo {
        name: section.required("name", 80, "the name people see"),
        description: section.required("description", 500, "one public line: what this mesh is for"),
        version: section.required("version", 40, "a version, for example \"1.0.0\""),
        provider: section.table("provider").map(provider),
        documentation_url,
    };
    section.finish();
    info
}

fn provider(section: Reader<'_>) -> a2a::AgentProvider {
    let provider = a2a::AgentProvider {
        organization: section.required("organization", 120, "who runs this mesh"),
        url: section.required("url", 2_048, "where they are found"),
    };
    if !provider.url.is_empty() && !node::is_http(&provider.url) {
        section.wrong("url", format!("\"{}\"", provider.url), "must be an absolute http(s) URL");
    }
    section.finish();
    provider
}
