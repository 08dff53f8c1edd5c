//! `weft store check|backup|restore`.

use super::expect;
use crate::client::said;
use crate::process::Deployment;
use crate::world::Form;

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_restored_elsewhere_is_the_same_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let done = mesh.client.send(&said("job kept"), &[("idempotency-key", "kept")]).await.unwrap();
    let asked = mesh.client.send(&said("ask"), &[]).await.unwrap();
    let data = format!("--data={}", mesh.data().display());
    expect(&["store", "check", &data], 5, &["in use by another process"]).await;
    mesh.stop().await;

    let whole = mesh.check_store().await;
    assert!(whole.contains("2 tasks, "), "{whole}");
    let file = dir.path().join("backup");
    let file = file.to_str().unwrap();
    expect(&["store", "backup", file, &data], 0, &["2 tasks, "]).await;
    expect(&["store", "backup", file, &data], 5, &["backup", "exist"]).await;
    expect(&["store", "restore", file, &data], 5, &["not empty"]).await;

    let elsewhere = dir.path().join("elsewhere");
    let data = format!("--data={}", elsewhere.join("data").display());
    expect(&["store", "check", &data], 5, &["there is no task store"]).await;
    expect(&["store", "restore", file, &data], 0, &["2 tasks, "]).await;
    expect(&["store", "check", &data], 0, &["2 tasks, "]).await;
    let mut copy = Deployment::start(Form::Together, &elsewhere, &[], &[]).await;
    assert_eq!(copy.client.task(&done.id).await.unwrap(), done);
    assert_eq!(copy.client.task(&asked.id).await.unwrap(), asked);
    let again = copy.client.send(&said("job kept"), &[("idempotency-key", "kept")]).await.unwrap();
    assert_eq!(again, done);
    copy.stop().await;
}
