//! `weft card|send|stream|tasks`.

use serde_json::Value;

use super::{Ran, expect, weft};
use crate::client::said_at_once;
use crate::process::{Deployment, free_port};
use crate::world::Form;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_says_what_came_of_it_in_words_in_json_and_in_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let url = format!("--url={}", mesh.client.base);
    let url = url.as_str();

    expect(&["card", url], 0, &["Test mesh", "play.rules", "JSONRPC"]).await;
    assert_eq!(json(&weft(&["card", url, "--json"]).await)["name"], "Test mesh");

    let skill = "--skill=play.rules";
    expect(&["send", "echo hello", url], 0, &["completed", "hello"]).await;
    let sent = json(&expect(&["send", "echo hello", skill, "--json", url], 0, &[]).await);
    let done = sent["task"]["id"].as_str().or(sent["id"].as_str()).unwrap().to_owned();
    expect(&["send", "fail", skill, url], 4, &["failed, as asked", "did not complete"]).await;
    expect(&["stream", "job by hand", skill, url], 0, &["step 3 of job by hand", "chunk 3", "completed"])
        .await;
    let lines = weft(&["stream", "job in json", skill, "--json", url]).await.out;
    assert!(
        lines.lines().count() > 5 && lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok())
    );

    let asked = json(&expect(&["send", "ask", skill, "--json", url], 0, &[]).await);
    let asked = asked["task"]["id"].as_str().or(asked["id"].as_str()).unwrap().to_owned();
    expect(&["send", "echo a name", "--task", &asked, url], 0, &["completed", "a name"]).await;

    let slow = mesh.client.send(&said_at_once("slow"), &[]).await.unwrap().id;
    expect(&["tasks", "get", &slow, url], 0, &[&slow]).await;
    expect(&["tasks", "list", "--state=working", "--page-size=1", url], 0, &[&slow, "1 of 1"]).await;
    expect(&["tasks", "cancel", &slow, url], 0, &["canceled"]).await;
    expect(&["tasks", "cancel", &slow, url], 0, &["canceled"]).await;
    expect(&["tasks", "cancel", &done, url], 1, &["-32002"]).await;
    expect(&["tasks", "get", "none", url], 1, &["-32001"]).await;
    expect(&["tasks", "watch", &done, url], 1, &["-32004"]).await;
    assert!(json(&weft(&["tasks", "list", "--json", url]).await)["tasks"].as_array().unwrap().len() > 4);

    for _ in 0..2 {
        expect(&["send", "echo once", skill, "--idempotency-key=once", url], 0, &["completed"]).await;
    }
    expect(&["send", "echo other", skill, "--idempotency-key=once", url], 1, &["Idempotency-Key"]).await;
    mesh.stop().await;
    expect(&["card", url], 3, &["cannot reach", "weft up"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_refused_before_anybody_is_asked() {
    let url = format!("--url=http://127.0.0.1:{}", free_port());
    for (args, words) in [
        (vec!["send"], vec!["nothing to send", "--skill"]),
        (vec!["send", "--skill=a.b", "--arguments=[1]"], vec!["--arguments [1]", "JSON object"]),
        (vec!["tasks", "list", "--state=asleep"], vec!["--state asleep", "working"]),
        (vec!["tasks", "nap"], vec!["nap"]),
        (vec!["send", "x", "--nap"], vec!["--nap"]),
    ] {
        let args: Vec<_> = args.into_iter().chain([url.as_str()]).collect();
        expect(&args, 2, &words).await;
    }
}
