//! How `weft up` begins and ends: what it refuses, what it leaves behind.

use rustix::process::Signal;
use weft_proto::a2a::TaskState;

use super::expect;
use crate::client::{artifacts, said, said_at_once};
use crate::process::{Deployment, free_port};
use crate::world::Form;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_mesh_on_the_same_data_or_the_same_port_is_refused_and_the_first_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let data = format!("--data={}", mesh.data().display());
    let fleet = format!("--fleet={}", crate::world::fleet().display());
    let other_port = format!("--http=127.0.0.1:{}", free_port());
    let words = ["the tasks cannot start", "in use by another process", "stop that one first"];
    expect(&["up", &data, &fleet, &other_port], 5, &words).await;

    let other_data = format!("--data={}", dir.path().join("other").display());
    let same_port = format!("--http={}", mesh.client.base.trim_start_matches("http://"));
    expect(&["up", &other_data, &fleet, &same_port], 5, &["the edge cannot start", "cannot listen on"]).await;
    mesh.client.send(&said("echo still here"), &[]).await.unwrap();
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_a_mesh_well_and_what_was_under_way_is_taken_up_again() {
    let dir = tempfile::tempdir().unwrap();
    // The work that runs is not waited for: it outlasts every drain.
    let mut mesh = Deployment::start(Form::Together, dir.path(), &["--bridge-drain-ms=100"], &[]).await;
    for signal in [Signal::TERM, Signal::INT] {
        let task = mesh.client.send(&said_at_once(&format!("again {signal:?}")), &[]).await.unwrap();
        mesh.client.until_state(&task.id, TaskState::Working).await;
        let status = mesh.signal("all", signal).await;
        assert_eq!(status.code(), Some(0), "{signal:?}");
        mesh.check_store().await;
        mesh.revive("all").await;
        let finished = mesh.client.until_state(&task.id, TaskState::Completed).await;
        assert_eq!(artifacts(&finished), "second try", "it went on as a further attempt");
    }
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ends_within_the_drain_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let task = mesh.client.send(&said_at_once("job last"), &[]).await.unwrap();
    mesh.client.until_state(&task.id, TaskState::Working).await;
    assert_eq!(mesh.signal("all", Signal::TERM).await.code(), Some(0));
    mesh.revive("all").await;
    let task = mesh.client.task(&task.id).await.unwrap();
    assert_eq!(task.status.unwrap().state(), TaskState::Completed, "it ended before the mesh did");
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_mesh_leaves_a_store_that_opens_and_a_task_that_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut mesh = Deployment::start(Form::Together, dir.path(), &[], &[]).await;
    let task = mesh.client.send(&said_at_once("again"), &[]).await.unwrap();
    mesh.client.until_state(&task.id, TaskState::Working).await;
    mesh.kill("all");
    mesh.check_store().await;
    mesh.revive("all").await;
    mesh.client.until_state(&task.id, TaskState::Completed).await;
    mesh.stop().await;
}
