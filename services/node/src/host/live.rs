//! What one manifest makes of a node.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_chassis::{Env, Outbound};
use weft_core::manifest::{Manifest, Problem, Problems, Rule, Tool};

use crate::agent::{Book, Remote};
use crate::source::{Misfit, Opened, Opener, Place};

/// See the module; swapped whole.
pub(super) struct Live {
    pub(super) manifest: Manifest,
    pub(super) rules: Vec<Arc<Rule>>,
    /// By name; without a source for a tool that answers no rows.
    pub(super) tools: BTreeMap<String, (Arc<Tool>, Option<Arc<Opened>>)>,
    pub(super) remote: Option<Arc<Remote>>,
    /// The address that calls are sealed for, without a slash at the end.
    pub(super) base: String,
}

impl Live {
    pub(super) async fn open(
        manifest: Manifest,
        place: &Place,
        book: &Book,
        env: &Env,
    ) -> Result<Live, Problems> {
        let (place, outbound) = (place.clone(), env.outbound().clone());
        // Files are read and databases built.
        let opened =
            tokio::task::spawn_blocking(move || Live::open_blocking(manifest, &place, &outbound)).await;
        let failed = |_| Err(Problems(vec![Problem::new("", "", "", "opening the sources failed")]));
        let mut live = opened.unwrap_or_else(failed)?;
        if let Some(agent) = &live.manifest.agent {
            let remote = Remote::new(agent, book.clone(), env.clone());
            live.remote = Some(Arc::new(remote.map_err(|Misfit { key, value, remedy }| {
                let file = &live.manifest.file;
                Problems(vec![Problem::new(file, &format!("agent.{key}"), value, remedy)])
            })?));
        }
        Ok(live)
    }

    fn open_blocking(manifest: Manifest, place: &Place, outbound: &Outbound) -> Result<Live, Problems> {
        let mut opener = Opener::new(place, &manifest.node.id, outbound);
        let (mut tools, mut problems) = (BTreeMap::new(), Vec::new());
        for tool in &manifest.tools {
            match opener.open(tool) {
                Ok(source) => {
                    tools.insert(tool.name.clone(), (Arc::new(tool.clone()), source.map(Arc::new)));
                }
                Err(Misfit { key, value, remedy }) => {
                    let key = format!("tool({}).source.{key}", tool.name);
                    problems.push(Problem::new(&manifest.file, &key, value, remedy));
                }
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let node = &manifest.node;
        let base = if node.address.is_empty() { format!("http://{}", node.id) } else { node.address.clone() };
        let base = base.trim_end_matches('/').to_owned();
        let rules = manifest.rules.iter().cloned().map(Arc::new).collect();
        Ok(Live { manifest, rules, tools, remote: None, base })
    }
}
