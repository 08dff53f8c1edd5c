//! Either side away, stopped or killed while a remote task is under way. The far mesh's first try never ends; its
//! second one, which only a restart brings, does: nothing here waits for a time to pass.

use weft_proto::a2a::TaskState;

use super::{Pair, only_task, says};
use crate::client::{artifacts, said_at_once, said_to, state};
use crate::process::Deployment;
use crate::world::Form;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_waits_for_a_remote_agent_that_is_away_and_says_so() {
    let pair = Pair::new();
    let near = pair.near().await;
    let task = near.client.send(&said_at_once("echo late"), &[]).await.unwrap();
    let waiting = near.client.until(&task.id, |task| says(task, "trying again")).await;
    assert_eq!(state(&waiting), TaskState::Working, "away is not failed");
    assert!(says(&waiting, "the remote agent behind it is away"), "{:?}", waiting.status);
    let far = pair.far().await;
    let done = near.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&done), "echo late");
    only_task(&far.client).await;
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_agent_that_goes_away_in_the_middle_is_followed_again_when_it_is_back() {
    let pair = Pair::new();
    let (far, near) = (pair.far().await, pair.near().await);
    let task = near.client.send(&said_at_once("again"), &[]).await.unwrap();
    near.client.until(&task.id, |task| says(task, "first try")).await;
    far.stop().await;
    let waiting = near.client.until(&task.id, |task| says(task, "cannot be reached")).await;
    assert_eq!(state(&waiting), TaskState::Working);
    let far = pair.far().await;
    let done = near.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&done), "second try");
    let (_, asked) = only_task(&far.client).await;
    assert_eq!(asked.len(), 1, "the message was sent once");
    assert!(near.stop().await && far.stop().await);
}

/// The near mesh as a process that can be killed.
async fn near(pair: &Pair) -> Deployment {
    let folder = format!("--catalog-dir={}", pair.near_fleet().display());
    let flags = [folder.as_str(), "--tasks-lease-ms=1000", "--bridge-drain-ms=100"];
    Deployment::start(Form::Together, pair.dir.path(), &flags, &[]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_mesh_follows_the_same_remote_task_when_it_is_back() {
    let pair = Pair::new();
    let mut far = pair.far().await;
    let mut near = near(&pair).await;
    let task = near.client.send(&said_at_once("again"), &[]).await.unwrap();
    near.client.until(&task.id, |task| says(task, "first try")).await;
    let (remote, _) = only_task(&far.client).await;
    near.kill("all");
    near.revive("all").await;
    let going_on = near.client.until(&task.id, |task| state(task) == TaskState::Working).await;
    assert_eq!(going_on.id, task.id);
    // The far side's task ends only now.
    far.stop().await;
    far = pair.far().await;
    let done = near.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&done), "second try");
    let (same, asked) = only_task(&far.client).await;
    assert_eq!((same.id, asked), (remote.id, vec![format!("weft-{}:1", task.id)]), "sent once");

    // Killed while the remote agent asks: the answer goes to the task that asked.
    let asked = near.client.send(&said_at_once("ask"), &[]).await.unwrap();
    near.client.until_state(&asked.id, TaskState::InputRequired).await;
    near.kill("all");
    near.revive("all").await;
    near.client.send(&said_to(&asked.id, "echo a name"), &[]).await.unwrap();
    let done = near.client.until_state(&asked.id, TaskState::Completed).await;
    assert_eq!(artifacts(&done), "echo a name");
    let listed = far.client.list(&serde_json::json!({})).await.unwrap();
    assert_eq!(listed.total_size, 2, "the answer began no task of its own: {listed:?}");
    near.stop().await;
    assert!(far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_remote_agent_did_while_we_were_dead_is_heard_afterwards() {
    let pair = Pair::new();
    let far = pair.far().await;
    let mut near = near(&pair).await;
    let task = near.client.send(&said_at_once("again"), &[]).await.unwrap();
    near.client.until(&task.id, |task| says(task, "first try")).await;
    near.kill("all");
    far.stop().await;
    let far = pair.far().await;
    let (remote, _) = only_task(&far.client).await;
    far.client.until_state(&remote.id, TaskState::Completed).await;
    near.revive("all").await;
    let done = near.client.until_state(&task.id, TaskState::Completed).await;
    assert_eq!(artifacts(&done), "second try");
    let (_, asked) = only_task(&far.client).await;
    assert_eq!(asked.len(), 1, "the message was sent once");
    near.stop().await;
    assert!(far.stop().await);
}
