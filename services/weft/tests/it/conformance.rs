//! The conformance profile of `deploy/conformance`, each form started from its own files: what it is there to show, it
//! shows.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use weft::settings::Settings;

use crate::client::{Client, Failure};
use crate::world::World;

mod behaviours;
mod forms;
mod races;

/// One form of the profile, on a free port.
struct Form {
    world: World,
    // Dropped after the mesh that writes into it.
    _data: TempDir,
}

/// Starts a form. Where it listens and keeps its data, and how long it takes to stop, is the test's; the rest is what
/// the form's file says.
async fn form(name: &str) -> Form {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = tempfile::tempdir().unwrap();
    let mut settings = declared(&root.join("deploy/conformance").join(name));
    assert!(settings.edge.http.starts_with("127.0.0.1:84"), "{name}: {}", settings.edge.http);
    settings.edge.http = "127.0.0.1:0".into();
    settings.catalog.dir = root.join(&settings.catalog.dir).display().to_string();
    settings.mesh.data = data.path().display().to_string();
    (settings.mesh.drain_ms, settings.bridge.drain_ms, settings.edge.drain_ms) = (5_000, 0, 500);
    let world = World::of(settings).await.unwrap_or_else(|problem| panic!("{name}: {problem}"));
    Form { world, _data: data }
}

fn declared(file: &PathBuf) -> Settings {
    let mut layers = weft::settings::layers();
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    layers.file(&file.display().to_string(), &text).unwrap();
    Settings::read(&layers).unwrap()
}

impl Form {
    fn client(&self) -> &Client {
        &self.world.client
    }

    async fn card(&self) -> Value {
        self.get("/.well-known/agent-card.json").await
    }

    async fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.client().get(path).await.unwrap()).unwrap()
    }

    /// The result of a blocking message, whole.
    async fn said(&self, message_id: &str, text: &str) -> Value {
        self.sent(&message(message_id, text)).await
    }

    async fn sent(&self, params: &Value) -> Value {
        self.client().call("SendMessage", params).await.unwrap()
    }

    /// The code and the reason with which a call is refused.
    async fn refused(&self, method: &str, params: &Value) -> (i64, String) {
        match self.client().call::<Value>(method, params).await {
            Err(Failure::Refused { code, reason, .. }) => (code, reason),
            other => panic!("{method} was not refused: {other:?}"),
        }
    }

    async fn stop(self) {
        assert!(self.world.stop().await, "something was left running");
    }
}

fn message(message_id: &str, text: &str) -> Value {
    json!({ "message": { "messageId": message_id, "role": "ROLE_USER", "parts": [{ "text": text }] } })
}
