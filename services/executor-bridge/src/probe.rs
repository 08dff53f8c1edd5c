//! How each node is: asked at start, after every change of the declarations, and at a steady pace.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;
use weft_proto::weft::{About, Health, ProbeResponse, ReportRequest, health};

use crate::Bridge;
use crate::backoff::jitter;
use crate::directory::Place;
use crate::failure::Failure;

/// Nodes asked at the same time.
const AT_ONCE_MAX: usize = 8;

/// Asks every node again and again, until the bridge is closed.
pub(crate) async fn keep(bridge: Arc<Bridge>) {
    let mut directory = bridge.directory.clone();
    let interval = Duration::from_millis(bridge.settings.probe_interval_ms);
    let mut asked = None;
    loop {
        let (revision, places) = match &*directory.borrow_and_update() {
            Some(directory) => (Some(directory.revision), directory.places()),
            None => (None, Vec::new()),
        };
        let due = asked.is_none_or(|(of, at): (_, Instant)| Some(of) != revision || at.elapsed() >= interval);
        if let (true, Some(revision)) = (due, revision) {
            asked = Some((revision, Instant::now()));
            let probes = futures::stream::iter(places).map(|place| {
                let bridge = bridge.clone();
                async move {
                    probe(bridge, place).await;
                }
            });
            tokio::select! {
                () = bridge.closed.cancelled() => return,
                () = probes.buffer_unordered(AT_ONCE_MAX).collect() => {}
            }
        }
        tokio::select! {
            () = bridge.closed.cancelled() => return,
            () = tokio::time::sleep(interval + jitter(interval / 10, &bridge.env)) => {}
            changed = directory.changed() => if changed.is_err() { return },
        }
    }
}

/// Asks one node and tells the catalog.
pub(crate) async fn probe(bridge: Arc<Bridge>, place: Arc<Place>) -> ProbeResponse {
    let started = Instant::now();
    let seen = bridge.door.about(&place).await;
    let elapsed_ms = u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX);
    let (state, detail, about) = judge(&place, seen);
    let health = Health { state: state.into(), detail, seen: Some(bridge.env.now()) };
    let report = ReportRequest {
        node: place.node.clone(),
        health: Some(health.clone()),
        tools: about.tools.clone(),
        agent_backed: about.agent_backed,
    };
    if let Err(status) = bridge.catalog.clone().report(report).await {
        tracing::warn!(node = place.node, reason = status.message(), "cannot report a node's health");
    }
    ProbeResponse { health: Some(health), tools: about.tools, agent_backed: about.agent_backed, elapsed_ms }
}

/// What was seen, as a state. A node that answers under another name is not the one declared.
fn judge(place: &Place, seen: Result<About, Failure>) -> (health::State, String, About) {
    match seen {
        Ok(about) if about.node == place.node => (health::State::Up, String::new(), about),
        Ok(about) => {
            let name: String = about.node.chars().take(63).collect();
            let detail = format!("answers as `{name}`: correct the address or the id");
            (health::State::Differs, detail, About::default())
        }
        Err(failure @ Failure::Unreachable(_)) => {
            (health::State::Unreachable, failure.text(&place.node, "about"), About::default())
        }
        Err(failure) => (health::State::Differs, failure.text(&place.node, "about"), About::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_answers_under_another_name_is_not_up() {
        let place = Place { node: "crm".into(), base: "http://crm".into(), hosted: true, agent: false };
        let state = |seen| judge(&place, seen).0;
        assert_eq!(state(Ok(About { node: "crm".into(), ..About::default() })), health::State::Up);
        assert_eq!(state(Ok(About { node: "lan".into(), ..About::default() })), health::State::Differs);
        assert_eq!(state(Err(Failure::Unreachable("refused".into()))), health::State::Unreachable);
        assert_eq!(state(Err(Failure::Garbage("no JSON".into()))), health::State::Differs);
    }
}
