//! The network source reads this very machine here; its parsers have tests beside them.

use serde_json::json;

use crate::world::{World, manifest};

#[tokio::test]
async fn this_machine_has_a_loopback_interface_and_its_hardware_address_stays_here() {
    let source = "{ kind = \"network\", table = \"interfaces\" }";
    let lines = "fields = [\"name\", \"loopback\", \"addresses\"]\nfilters = [\"name\"]";
    let world = World::open(&manifest(source, lines), &[]).await;
    let answer = world.rows(json!({"name": "lo"})).await;
    assert_eq!(answer["rows"][0]["loopback"], true, "{answer}");
    assert!(answer["rows"][0].get("mac").is_none() && answer["as_of"].is_string());
}
