//! Manifests: the declarations from which a fleet is made. Text in, types out; nothing here opens a file.
//!
//! One TOML file declares one node: who it is (`[node]`), what it can be asked (`[[tool]]`), what the mesh advertises
//! of it (`[[capability]]`) and, for a mock agent, how it plays (`[[scenario.rule]]`), or which remote agent stands
//! behind it (`[agent]`). `mesh.toml` declares the mesh.
//! Adding a node is adding a file.
//!
//! | module | holds |
//! |---|---|
//! | [`problem`] | what is wrong: file, key, value, remedy |
//! | [`agent`] | the remote agent that a node forwards to |
//! | [`source`] | where a tool's rows come from |
//! | [`scenario`] | the rules of a mock agent |
//! | [`fleet`] | all files together, and what must hold between them |

pub mod agent;
mod capability;
pub mod fleet;
mod mesh;
mod node;
pub mod problem;
mod reader;
pub mod scenario;
pub mod source;
#[cfg(test)]
mod tests;
mod value;

use std::cell::RefCell;
use std::time::Duration;

use toml::Table;
use weft_proto::weft;

pub use agent::Agent;
pub use fleet::Fleet;
pub use mesh::Mesh;
pub use problem::{Problem, Problems};
pub use scenario::Rule;
pub use source::Source;

use reader::Reader;

/// Name of the file that declares the mesh; every other `.toml` file beside it declares a node.
pub const MESH_FILE: &str = "mesh.toml";
/// Largest manifest, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

/// One declared node.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Name of the file it was read from.
    pub file: String,
    /// What the catalog says of it, its tools included; without health.
    pub node: weft::Node,
    /// How each tool answers, in declared order, by the same names as in `node`.
    pub tools: Vec<Tool>,
    /// What the mesh advertises of it.
    pub capabilities: Vec<weft::Capability>,
    /// How its scenario tools play, in declared order.
    pub rules: Vec<Rule>,
    /// The remote agent that its tools of kind `a2a` forward to.
    pub agent: Option<Agent>,
}

/// How one tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Unique within the node.
    pub name: String,
    /// Where its rows come from.
    pub source: Source,
    /// The fields that may leave the node. Empty for a scenario and for an agent.
    pub fields: Vec<String>,
    /// The fields a caller may filter by; a subset of `fields`.
    pub filters: Vec<String>,
    /// Field whose greatest value says how fresh the rows are.
    pub as_of: Option<String>,
    /// Most rows of one answer.
    pub rows_max: usize,
    /// Most bytes that are read from the source, and that one answer may have.
    pub bytes_max: usize,
    /// How long one call may take.
    pub timeout: Duration,
}

impl Manifest {
    /// Reads one node's file. `file` is used in problems only.
    ///
    /// # Errors
    /// Everything that is wrong within this file.
    pub fn parse(file: &str, text: &str) -> Result<Manifest, Problems> {
        let manifest = read(file, text, node::manifest)?;
        Ok(Manifest { file: file.to_owned(), ..manifest })
    }

    /// The tool of this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// Parses the file and lets `take` read it; what `take` leaves unread or finds wrong becomes the error.
fn read<T>(file: &str, text: &str, take: impl FnOnce(&Reader<'_>) -> T) -> Result<T, Problems> {
    let whole = |remedy: String| Problems(vec![Problem::new(file, "", "", remedy)]);
    if text.len() > FILE_BYTES_MAX {
        return Err(whole(format!("is {} bytes long: must be at most {FILE_BYTES_MAX}", text.len())));
    }
    let table: Table = text.parse().map_err(|e| whole(format!("not valid TOML: {e}")))?;
    let problems = RefCell::default();
    let root = Reader::root(file, &table, &problems);
    let taken = take(&root);
    root.finish();
    let problems = problems.into_inner();
    if problems.is_empty() { Ok(taken) } else { Err(Problems(problems)) }
}

/// 1 to `chars_max` lower case letters, digits, `-` and what `also` allows; a letter or digit first and last.
fn is_id(text: &str, chars_max: usize, also: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=chars_max).contains(&text.len())
        && text.chars().all(|c| plain(c) || c == '-' || also.contains(c))
        && text.starts_with(plain)
        && text.ends_with(plain)
}
