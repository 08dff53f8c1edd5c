//! `weft config`, `--help` and `weft completion`.

use serde_json::Value;

use super::{expect, weft};

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_setting_is_named_with_its_value_and_the_remedy_wherever_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("weft.toml");
    let config = format!("--config={}", file.display());
    for (text, words) in [
        ("[tasks]\nlease_ms = 1", ["tasks.lease_ms", "1", "100 to 3600000"]),
        ("[tasks]\nlease_ms = \"long\"", ["tasks.lease_ms", "long", "integer"]),
        ("[tasks]\nleese_ms = 1", ["tasks.leese_ms", "is not a setting", "lease_ms"]),
        ("[task]\nlease_ms = 1", ["task.lease_ms", "is not a setting", "tasks"]),
        ("[tasks", ["weft.toml", "not valid TOML", "tasks"]),
    ] {
        std::fs::write(&file, text).unwrap();
        for command in [&["config", "check"][..], &["up"], &["store", "check"]] {
            let args: Vec<_> = command.iter().copied().chain([config.as_str()]).collect();
            expect(&args, 2, &words).await;
        }
    }
    expect(&["config", "check", "--edge-calls-max=none"], 2, &["--edge-calls-max", "none", "whole number"])
        .await;
    expect(&["config", "check", "--config=nowhere.toml"], 2, &["nowhere.toml", "cannot be read"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_shown_with_where_they_came_from() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("weft.toml");
    std::fs::write(&file, "[tasks]\nlease_ms = 2000\nqueue_max = 7").unwrap();
    let config = format!("--config={}", file.display());
    expect(&["config", "check", &config], 0, &["the settings fit"]).await;
    let args = ["config", "show", "--json", &config, "--tasks-queue-max=9"];
    let shown: Vec<Value> = serde_json::from_str(&weft(&args).await.out).unwrap();
    let row = |key: &str| shown.iter().find(|row| row["key"] == key).unwrap();
    assert_eq!(
        (row("tasks.lease_ms")["value"].as_str(), row("tasks.lease_ms")["from"].as_str()),
        (Some("2000"), file.to_str())
    );
    assert_eq!(
        (row("tasks.queue_max")["value"].as_str(), row("tasks.queue_max")["from"].as_str()),
        (Some("9"), Some("--tasks-queue-max"))
    );
    assert_eq!(row("edge.http")["from"], "default");
}

#[tokio::test(flavor = "multi_thread")]
async fn help_shows_every_limit_with_its_default_and_completion_knows_the_commands() {
    let help = ["--edge-body-bytes-max", "default: 4194304", "1024 to 33554432", "WEFT_EDGE_BODY_BYTES_MAX"];
    expect(&["up", "--help"], 0, &help).await;
    for shell in ["bash", "zsh", "fish"] {
        expect(&["completion", shell], 0, &["tasks", "idempotency-key"]).await;
    }
    expect(&["--help"], 0, &["Usage", "Exit codes", "4 the task did not"]).await;
    expect(&[], 2, &["Usage"]).await;
}
