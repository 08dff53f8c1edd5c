//! A node behind which a remote A2A agent stands: another mesh, in this process. What it says is our task's; what is
//! sent to it is sent once, whoever dies meanwhile.

mod recovery;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Role, Task, TaskState};

use crate::client::{Client, artifacts, said, said_at_once, said_to, state, state_of};
use crate::process::free_port;
use crate::world::{Form, World, fleet};

/// A far mesh, which stays at one address, and the folder of a near one whose only node forwards to it.
struct Pair {
    dir: tempfile::TempDir,
    listen: String,
    far_fleet: PathBuf,
}

impl Pair {
    /// `agent`: further lines of the section `[agent]`; `source`: further keys of the tool's source.
    fn of(far_fleet: &Path, agent: &str, source: &str) -> Pair {
        let dir = tempfile::tempdir().unwrap();
        let pair =
            Pair { listen: format!("127.0.0.1:{}", free_port()), far_fleet: far_fleet.to_owned(), dir };
        let near = pair.near_fleet();
        fs::create_dir(&near).unwrap();
        fs::copy(fleet().join("mesh.toml"), near.join("mesh.toml")).unwrap();
        let manifest = format!(
            r#"
            [node]
            id = "far"
            name = "Far"
            role = "another mesh"
            [agent]
            url = "http://{}"
            {agent}
            [[tool]]
            name = "far.ask"
            description = "asks the other mesh"
            source = {{ kind = "a2a"{source} }}
            [[capability]]
            id = "play.rules"
            name = "Far"
            description = "Asks the other mesh."
            examples = ["what does the other mesh say?"]
            phrases = ["*"]
            tool = "far.ask"
            "#,
            pair.listen
        );
        fs::write(near.join("far.toml"), manifest).unwrap();
        pair
    }

    fn new() -> Pair {
        Pair::of(&fleet(), "", ", skill = \"play.rules\"")
    }

    fn near_fleet(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    async fn near(&self) -> World {
        let data = self.dir.path().join("near");
        World::with(Form::Together, &self.near_fleet(), &data, &[]).await.unwrap()
    }

    async fn far(&self) -> World {
        let data = self.dir.path().join("far");
        // A card is signed where its address is vouched for.
        let public = format!("http://{}", self.listen);
        let listen = [("edge.http", self.listen.as_str()), ("edge.public_url", public.as_str())];
        World::with(Form::Together, &self.far_fleet, &data, &listen).await.unwrap()
    }
}

/// The only task of the far mesh, with what was said to it.
async fn only_task(far: &Client) -> (Task, Vec<String>) {
    let listed = far.list(&json!({})).await.unwrap();
    assert_eq!(listed.total_size, 1, "one message, one run: {listed:?}");
    let task = far.task(&listed.tasks[0].id).await.unwrap();
    let asked = task.history.iter().filter(|message| message.role() == Role::User);
    let ids = asked.map(|message| message.message_id.clone()).collect();
    (task, ids)
}

fn says(task: &Task, text: &str) -> bool {
    format!("{:?}", task.status).contains(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_a_remote_agent_is_a_durable_task_over_every_binding() {
    for binding in ["", "binding = \"jsonrpc\"", "binding = \"rest\"", "binding = \"grpc\""] {
        let pair = Pair::of(&fleet(), binding, ", skill = \"play.rules\"");
        let (far, near) = (pair.far().await, pair.near().await);
        let task = near.client.send(&said("echo hello"), &[]).await.unwrap();
        assert_eq!(
            (state(&task), artifacts(&task).as_str()),
            (TaskState::Completed, "echo hello"),
            "{binding}"
        );
        assert_eq!(near.client.task(&task.id).await.unwrap(), task);
        let (remote, asked) = only_task(&far.client).await;
        assert_ne!(remote.id, task.id);
        assert_eq!(asked, [format!("weft-{}:1", task.id)], "{binding}: the message's id comes from the key");
        assert!(near.stop().await && far.stop().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_remote_agent_streams_is_streamed_on() {
    let pair = Pair::new();
    let (far, near) = (pair.far().await, pair.near().await);
    let events = near.client.stream("SendStreamingMessage", &said("job x"), &[]).await.unwrap().rest().await;
    let (mut chunks, mut steps) = (Vec::new(), 0);
    for (_, event) in &events {
        match &event.payload {
            Some(Payload::ArtifactUpdate(update)) => chunks.push((update.append, update.last_chunk)),
            Some(Payload::StatusUpdate(update)) if format!("{update:?}").contains("of job x") => steps += 1,
            _ => {}
        }
    }
    assert_eq!(chunks, [(false, false), (true, false), (true, true)], "piece by piece: {events:?}");
    assert_eq!(steps, 3, "each progress message once: {events:?}");
    assert_eq!(state_of(&events.last().unwrap().1), Some(TaskState::Completed));
    let (remote, _) = only_task(&far.client).await;
    let ours = near.client.list(&json!({ "includeArtifacts": true })).await.unwrap().tasks.remove(0);
    assert_eq!(artifacts(&ours), artifacts(&remote));
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_agent_that_asks_is_answered_on_its_own_task() {
    let pair = Pair::new();
    let (far, near) = (pair.far().await, pair.near().await);
    let asked = near.client.send(&said("ask"), &[]).await.unwrap();
    assert_eq!(state(&asked), TaskState::InputRequired);
    assert!(says(&asked, "what shall I call you?"), "{:?}", asked.status);
    let answered = near.client.send(&said_to(&asked.id, "echo a name"), &[]).await.unwrap();
    assert_eq!((answered.id.as_str(), state(&answered)), (asked.id.as_str(), TaskState::Completed));
    assert_eq!(artifacts(&answered), "echo a name");
    let (remote, said) = only_task(&far.client).await;
    assert_eq!(said, [format!("weft-{}:1", asked.id), format!("weft-{}:2", asked.id)], "{remote:?}");
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_end_of_a_remote_task_is_passed_on_as_what_it_is() {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/conformance/fleet");
    let pair = Pair::of(&conformance, "", "");
    let (far, near) = (pair.far().await, pair.near().await);
    for (text, end, word) in [
        ("tck-complete-task", TaskState::Completed, "Hello from TCK"),
        ("tck-reject-task", TaskState::Rejected, "rejected"),
        ("tck-fail-task", TaskState::Failed, "failed"),
        ("tck-auth-required", TaskState::AuthRequired, "Prove who you are"),
        ("tck-message-response", TaskState::Completed, "Direct message response"),
    ] {
        let task = near.client.send(&said_at_once(text), &[]).await.unwrap();
        let ended = near
            .client
            .until(&task.id, |task| state(task) != TaskState::Working && state(task) != TaskState::Submitted)
            .await;
        assert_eq!(state(&ended), end, "{text}: {ended:?}");
        assert!(says(&ended, word), "{text}: {:?}", ended.status);
    }
    let file = near.client.send(&said("tck-artifact-file"), &[]).await.unwrap();
    assert!(format!("{:?}", file.artifacts).contains("output.txt"), "{file:?}");
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_task_is_canceled_at_the_remote_agent_also_when_that_is_away() {
    let pair = Pair::new();
    let (far, near) = (pair.far().await, pair.near().await);
    let task = near.client.send(&said_at_once("slow"), &[]).await.unwrap();
    near.client.until(&task.id, |task| says(task, "under way")).await;
    assert_eq!(state(&near.client.cancel(&task.id).await.unwrap()), TaskState::Canceled);
    let (remote, _) = only_task(&far.client).await;
    far.client.until_state(&remote.id, TaskState::Canceled).await;

    let second = near.client.send(&said_at_once("slow too"), &[]).await.unwrap();
    near.client.until(&second.id, |task| says(task, "under way")).await;
    let tasks = far.client.list(&json!({})).await.unwrap().tasks;
    let remote = tasks.into_iter().find(|task| task.id != remote.id).unwrap();
    far.stop().await;
    near.client.cancel(&second.id).await.unwrap();
    let far = pair.far().await;
    far.client.until_state(&remote.id, TaskState::Canceled).await;
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_must_be_signed_by_whom_the_manifest_names() {
    let foreign =
        r#"card_keys = ['{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}']"#;
    let pair = Pair::of(&fleet(), foreign, "");
    let (far, near) = (pair.far().await, pair.near().await);
    let task = near.client.send(&said("echo nobody hears"), &[]).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed);
    assert!(says(&task, "CARD_UNTRUSTED"), "{:?}", task.status);
    assert_eq!(far.client.list(&json!({})).await.unwrap().total_size, 0, "nothing was sent");
    // With the place where the far mesh's own keys lie, its signature counts.
    let manifest = pair.near_fleet().join("far.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let right = text.replace(foreign, &format!("card_keys = [\"http://{}\"]", pair.listen));
    assert!(near.stop().await);
    fs::write(&manifest, right).unwrap();
    let near = pair.near().await;
    let task = near.client.send(&said("echo signed"), &[]).await.unwrap();
    assert_eq!((state(&task), artifacts(&task).as_str()), (TaskState::Completed, "echo signed"), "{task:?}");
    assert!(near.stop().await && far.stop().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_the_agents_card_does_not_list_is_asked_for_nowhere() {
    let pair = Pair::of(&fleet(), "", ", skill = \"no.such\"");
    let (far, near) = (pair.far().await, pair.near().await);
    let task = near.client.send(&said("echo hello"), &[]).await.unwrap();
    assert_eq!(state(&task), TaskState::Failed);
    assert!(says(&task, "UNKNOWN_SKILL") && says(&task, "it lists play.rules"), "{:?}", task.status);
    assert_eq!(far.client.list(&json!({})).await.unwrap().total_size, 0);
    assert!(near.stop().await && far.stop().await);
}
