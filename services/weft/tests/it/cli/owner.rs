//! `weft owner export|forget`.

use super::{expect, weft};
use crate::client::said;
use crate::process::Deployment;
use crate::world::Form;

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_an_owner_is_printed_a_task_a_line_and_removed_when_asked_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let done = mesh.client.send(&said("job kept"), &[]).await.unwrap();
    let asked = mesh.client.send(&said("ask"), &[]).await.unwrap();
    let data = format!("--data={}", mesh.data().display());
    expect(&["owner", "export", "local", &data], 5, &["in use by another process"]).await;
    mesh.stop().await;
    mesh.check_store().await;

    let exported = weft(&["owner", "export", "local", &data]).await;
    assert_eq!(exported.code, 0, "{exported:?}");
    let lines: Vec<serde_json::Value> =
        exported.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = lines.iter().map(|line| line["task"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&done.id, &asked.id]);
    assert!(lines.iter().all(|line| line["tenant"] == "" && line["task"]["history"].is_array()));

    expect(&["owner", "forget", "local", &data], 2, &["--yes"]).await;
    expect(&["owner", "forget", "crm/local", "--yes", &data], 2, &["follows the slash"]).await;
    expect(&["owner", "forget", "p:nobody", "--yes", &data], 0, &["0 tasks"]).await;
    expect(&["owner", "forget", "local", "--yes", &data], 0, &["2 tasks and 0 conversations"]).await;
    let left = weft(&["owner", "export", "local", &data]).await;
    assert_eq!((left.code, left.out.as_str()), (0, ""));
    expect(&["store", "check", &data], 0, &["0 tasks, "]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_store_that_does_not_run_is_named_with_its_setting() {
    let nowhere = "--peers-tasks=http://127.0.0.1:1";
    for args in [["export", "local"].as_slice(), &["forget", "local", "--yes"]] {
        let args = [&["owner"], args, &["--live", nowhere]].concat();
        expect(&args, 3, &["peers.tasks", "127.0.0.1:1"]).await;
    }
}
