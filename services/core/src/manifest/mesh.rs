//! `mesh.toml`: what the mesh says of itself, the extensions it declares, and capabilities that belong to no single
//! node's file.

use weft_proto::{a2a, weft, wkt};

use super::reader::Reader;
use super::{MESH_FILE, Problems, capability, node, read, value};
use crate::card;

/// Most extensions of one mesh.
const EXTENSIONS_MAX: usize = 32;

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
        read(MESH_FILE, text, |root| {
            let info = weft::MeshInfo { extensions: extensions(root), ..info(root) };
            Mesh { info, capabilities: capability::all(root, None) }
        })
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
        extended_description: section.text("extended_description", 2_000),
        extensions: Vec::new(),
    };
    section.finish();
    info
}

fn extensions(root: &Reader<'_>) -> Vec<a2a::AgentExtension> {
    let mut extensions: Vec<a2a::AgentExtension> = Vec::new();
    for section in root.tables("extension", EXTENSIONS_MAX) {
        let extension = extension(section);
        if extensions.iter().any(|earlier| earlier.uri == extension.uri) {
            root.wrong("extension", format!("\"{}\" twice", extension.uri), "declare each extension once");
        }
        extensions.push(extension);
    }
    extensions
}

fn extension(section: Reader<'_>) -> a2a::AgentExtension {
    let uri = section.required("uri", 512, "the URI that identifies the extension");
    // Callers name extensions in one header, separated by commas.
    let absolute = uri.split_once(':').is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    let plain = uri.bytes().all(|b| b.is_ascii_graphic() && b != b',');
    if !uri.is_empty() && (!absolute || !plain) {
        let remedy = "must be an absolute URI without spaces and commas";
        section.wrong("uri", format!("\"{uri}\""), remedy);
    } else if uri == card::MESH_EXTENSION {
        section.wrong("uri", format!("\"{uri}\""), "is written by the mesh itself: remove it");
    }
    let extension = a2a::AgentExtension {
        description: section.required("description", 500, "one public line: what it is for"),
        required: section.flag("required"),
        params: section.value("params").and_then(|params| match value::json(params) {
            Ok(wkt::Value { kind: Some(wkt::Kind::Struct(params)) }) => Some(params),
            Ok(_) => {
                section.wrong("params", params, "must be a table");
                None
            }
            Err(problem) => {
                section.wrong("params", params, problem);
                None
            }
        }),
        uri,
    };
    section.finish();
    extension
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
