//! The fleet that is shipped: every tool answers rows, and every figure is the one in its data.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weft_chassis::Env;
use weft_core::manifest::{Fleet, Manifest, Source};
use weft_node::{Host, Place, Settings};
use weft_proto::weft::InvokeResult;

use crate::world::{World, as_json};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet")
}

fn fleet() -> Fleet {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.push((name, std::fs::read_to_string(path).unwrap()));
        }
    }
    Fleet::parse(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .unwrap_or_else(|p| panic!("{p}"))
}

/// A node of the shipped fleet.
async fn world(id: &str) -> World {
    world_in(id, Env::system()).await
}

async fn world_in(id: &str, env: Env) -> World {
    let manifest: Manifest = fleet().node(id).unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::default();
    let key = weft_seal::Key::from_seed(&[7; 32]);
    let place = Place { base_dir: dir(), data_dir: folder.path().join("data") };
    let host = Host::open(manifest.clone(), place, crate::world::trust(&key), &settings, &env).await;
    World::around(host.unwrap_or_else(|problems| panic!("{problems}")), key, env, folder)
}

async fn rows(world: &World, tool: &str, arguments: Value) -> Vec<Value> {
    let result: InvokeResult = world.call(tool, arguments).await;
    assert!(result.ok, "{tool}: {result:?}");
    as_json(&result.result.unwrap())["rows"].as_array().unwrap().clone()
}

#[tokio::test]
async fn every_tool_of_the_fleet_answers_rows_without_arguments() {
    // Neighbours and routes are what this machine has; a container may have none.
    let may_be_empty = ["lan.neighbours", "lan.routes", "lan.dns"];
    let mut tools = 0;
    for manifest in fleet().nodes {
        let world = world(&manifest.node.id).await;
        for tool in manifest.tools.iter().filter(|tool| tool.source != Source::Scenario) {
            let rows = rows(&world, &tool.name, json!({})).await;
            assert!(
                !rows.is_empty() || may_be_empty.contains(&tool.name.as_str()),
                "{} has no rows",
                tool.name
            );
            for row in &rows {
                let fields: Vec<_> = row.as_object().unwrap().keys().collect();
                assert!(fields.iter().all(|field| tool.fields.contains(field)), "{}: {fields:?}", tool.name);
            }
            tools += 1;
        }
    }
    assert!(tools >= 15, "{tools}");
}

#[tokio::test]
async fn a_sectors_change_is_what_its_history_says() {
    let world = world("scanner").await;
    for sector in rows(&world, "scanner.sectors", json!({})).await {
        let history = rows(&world, "scanner.history", json!({"sector": sector["sector"]})).await;
        let close = |age: usize| history[age]["close"].as_f64().unwrap();
        for (field, age) in [("change_1d_pct", 1), ("change_5d_pct", 5), ("change_20d_pct", 20)] {
            let expected = 100.0 * (close(0) / close(age) - 1.0);
            let found = sector[field].as_f64().unwrap();
            assert!(
                (found - expected).abs() < 0.006,
                "{} {field}: {found} is not {expected}",
                sector["sector"]
            );
        }
        assert_eq!(sector["day"], history[0]["day"]);
    }
}

#[tokio::test]
async fn an_industrys_figures_are_those_of_its_customers() {
    let world = world("crm").await;
    let customers = rows(&world, "crm.customers", json!({})).await;
    let due = rows(&world, "crm.contacts_due", json!({})).await;
    let industries = rows(&world, "crm.industries", json!({})).await;
    assert_eq!(
        industries.iter().map(|i| i["customers"].as_u64().unwrap()).sum::<u64>(),
        customers.len() as u64
    );
    for industry in industries {
        let of =
            |rows: &[Value]| rows.iter().filter(|row| row["industry"] == industry["industry"]).count() as u64;
        assert_eq!(industry["customers"].as_u64(), Some(of(&customers)));
        assert_eq!(industry["due"].as_u64(), Some(of(&due)));
    }
}

#[test]
fn every_capability_has_questions_in_both_languages() {
    for capability in fleet().snapshot().capabilities {
        let questions: Vec<_> = capability.examples.iter().chain(&capability.phrases).collect();
        let chinese =
            questions.iter().filter(|q| q.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))).count();
        assert!(chinese >= 6 && questions.len() - chinese >= 6, "{}", capability.id);
    }
}

/// What the shipped scenario does with a text: each status, `artifact` for each chunk, and how the call ends.
async fn played(world: &World, text: &str) -> Vec<String> {
    let message = json!({ "messageId": text, "role": "ROLE_USER", "parts": [{ "text": text }] });
    let body = json!({ "tool": "scenario.play", "message": message, "taskId": text }).to_string();
    let request = world.request(&body, "tool:scenario.play", "text/event-stream");
    let (_, events) = world.send(request).await;
    let events = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let told = |event: Value| match (&event["progress"]["status"]["state"], &event["progress"]["artifact"]) {
        (Value::String(state), _) => state.trim_start_matches("TASK_STATE_").to_lowercase(),
        (_, Value::Object(_)) => "artifact".to_owned(),
        _ if event["result"]["ok"] == true => format!("ok {}", event["result"]["result"]),
        _ => format!("failed {}", event["result"]["code"]),
    };
    events.map(|data| told(serde_json::from_str(data).unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn the_shipped_scenario_does_what_it_is_told() {
    let world = world_in("scenario", Env::simulated(1)).await;
    assert_eq!(played(&world, "hello").await, ["ok \"hello\""], "one event, no steps");
    assert_eq!(played(&world, "Echo this").await, ["artifact", "completed", "ok null"]);
    assert_eq!(played(&world, "chunks").await, ["artifact", "artifact", "artifact", "completed", "ok null"]);
    assert_eq!(played(&world, "parts").await, ["artifact", "completed", "ok null"]);
    assert_eq!(played(&world, "ask").await, ["input_required", "ok null"]);
    assert_eq!(played(&world, "login").await, ["auth_required", "ok null"]);
    assert_eq!(played(&world, "fail").await, ["failed", "ok null"]);
    assert_eq!(played(&world, "reject").await, ["rejected", "ok null"]);
    assert_eq!(played(&world, "break").await, ["working"]);
    let begun = tokio::time::Instant::now();
    let slow = played(&world, "slow").await;
    assert_eq!((slow.len(), begun.elapsed().as_secs()), (33, 30));
}
