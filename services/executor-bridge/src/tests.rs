//! The whole bridge against fakes, in virtual time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::response::IntoResponse;
use futures::StreamExt;
use weft_proto::a2a::{Artifact, Message, Part, Role, TaskState, TaskStatus, part};
use weft_proto::weft::append_answer::Refusal;
use weft_proto::weft::executor_bridge_client::ExecutorBridgeClient;
use weft_proto::weft::{
    ArtifactChunk, BridgeInvokeRequest, DrainRequest, InvokeResult, ProbeRequest, Progress, StatusRequest,
    Stop, health, invoke_event, progress,
};
use weft_proto::wkt::{Kind, Struct, Value};

use super::*;
use fakes::{
    FakeCatalog, FakeNode, FakeSigner, FakeTasks, NodeCall, end, events, hosted, item, ok, result, snapshot,
    sse, step,
};

pub(crate) mod fakes;
mod spans;
mod streams;

struct World {
    tasks: FakeTasks,
    catalog: FakeCatalog,
    signer: FakeSigner,
    env: Env,
    client: ExecutorBridgeClient<Peer>,
}

fn world(settings: Settings, nodes: HashMap<String, Peer>) -> World {
    let (tasks, signer) = (FakeTasks::default(), FakeSigner::default());
    let catalog = FakeCatalog { snapshot: snapshot(""), ..FakeCatalog::default() };
    let env = Env::simulated(1);
    let upstreams = Upstreams { tasks: tasks.peer(), catalog: catalog.peer(), signer: signer.peer() };
    let (routes, _) = start(settings, upstreams, nodes, env.clone()).unwrap();
    let client = ExecutorBridgeClient::new(weft_chassis::peer::local(routes));
    World { tasks, catalog, signer, env, client }
}

fn with_node(answer: impl Fn(NodeCall) -> axum::response::Response + Send + Sync + 'static) -> World {
    world(Settings::default(), hosted(&FakeNode::new("lab", answer)))
}

fn status(state: TaskState) -> Progress {
    let status = TaskStatus { state: state.into(), ..TaskStatus::default() };
    Progress { step: Some(progress::Step::Status(status)), metadata: None }
}

fn chunk(text: &str) -> Progress {
    let part = Part { content: Some(part::Content::Text(text.into())), ..Part::default() };
    let artifact = Artifact { artifact_id: "a".into(), parts: vec![part], ..Artifact::default() };
    let chunk = ArtifactChunk { artifact: Some(artifact), append: true, last_chunk: false };
    Progress { step: Some(progress::Step::Artifact(chunk)), metadata: None }
}

fn reply(text: &str) -> Message {
    let part = Part { content: Some(part::Content::Text(text.into())), ..Part::default() };
    Message { message_id: "r1".into(), role: Role::Agent.into(), parts: vec![part], ..Message::default() }
}

fn instead(text: &str) -> Progress {
    Progress { step: Some(progress::Step::Message(reply(text))), metadata: None }
}

/// `W` working, `w` working with a message, `a` artifact, `m` message instead of a task, `C` completed, `F` failed, …
fn shape(steps: &[Progress]) -> String {
    let letter = |step: &Progress| match &step.step {
        Some(progress::Step::Artifact(_)) => 'a',
        Some(progress::Step::Message(_)) => 'm',
        Some(progress::Step::Status(status)) => match (status.state(), &status.message) {
            (TaskState::Working, None) => 'W',
            (TaskState::Working, Some(_)) => 'w',
            (TaskState::Completed, _) => 'C',
            (TaskState::Failed, _) => 'F',
            (TaskState::InputRequired, _) => 'I',
            _ => '?',
        },
        None => '-',
    };
    steps.iter().map(letter).collect()
}

/// The structured reason of the FAILED step at the end.
fn code(steps: &[Progress]) -> String {
    let Some(progress::Step::Status(status)) = steps.last().and_then(|step| step.step.as_ref()) else {
        panic!("no status at the end")
    };
    assert_eq!(status.state(), TaskState::Failed);
    let facts =
        status.message.iter().flat_map(|message| &message.parts).find_map(|part| match &part.content {
            Some(part::Content::Data(Value { kind: Some(Kind::Struct(facts)) })) => Some(facts),
            _ => None,
        });
    facts.unwrap().fields["code"].as_str().unwrap().to_owned()
}

impl World {
    async fn run(&self, task: &str) -> String {
        self.tasks.offer([item(task)]);
        self.ended(task).await
    }

    /// Waits for the end of a task; gives the shape of its steps.
    async fn ended(&self, task: &str) -> String {
        self.tasks
            .until(|store| {
                let of_task = store.commits.iter().filter(|commit| commit.task_id == task);
                of_task.flat_map(|commit| &commit.progress).any(outcome::ends)
            })
            .await;
        shape(&self.tasks.steps(task))
    }

    fn metric(&self, name: &str) -> f64 {
        let text = self.env.metrics().render();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_fast_run_is_one_commit_and_its_call_is_sealed_with_its_hop_data() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = calls.clone();
    let world = with_node(move |call| {
        seen.lock().unwrap().push(call);
        result(ok("done"))
    });
    assert_eq!(world.run("t1").await, "WaC");
    assert_eq!(world.tasks.store().commits.len(), 1);

    let calls = calls.lock().unwrap();
    let NodeCall { request, headers } = &calls[0];
    assert_eq!((request.tool.as_str(), request.task_id.as_str(), request.attempt), ("run", "t1", 1));
    assert_eq!(request.idempotency_key, "key-t1");
    assert_eq!(headers["weft-depth"], "1");
    assert_eq!(headers["weft-task"], "t1");
    assert_eq!(headers["signature"], "POST http://lab/peer/invoke lab");
    let sealed = world.signer.asked.lock().unwrap()[0].clone();
    assert_eq!((sealed.scope.as_str(), sealed.body_sha256.len()), ("tool:run", 32));
    let covered: Vec<_> = sealed.covered.iter().map(|header| header.name.as_str()).collect();
    assert_eq!(covered, ["weft-depth", "weft-task"]);
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"test.run\",outcome=\"ok\"}"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_runs_at_once_all_end_with_their_artifact() {
    let world = with_node(|_| result(ok("done")));
    world.tasks.offer((0..1_000).map(|n| item(&format!("t{n}"))));
    for n in 0..1_000 {
        assert_eq!(world.ended(&format!("t{n}")).await, "WaC");
    }
    assert_eq!(world.tasks.store().commits.len(), 1_000);
    assert_eq!(world.metric("weft_bridge_running"), 0.0);
}

#[tokio::test(start_paused = true)]
async fn no_more_is_claimed_than_there_are_slots() {
    let settings = Settings { slots: 4, ..Settings::default() };
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (entered, peak) = (now.clone(), most.clone());
    let node = FakeNode::new("lab", move |_| {
        peak.fetch_max(entered.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let left = entered.clone();
        let body = futures::stream::once(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            left.fetch_sub(1, Ordering::SeqCst);
            let data = weft_proto::json::encode_string(&end(ok("done"))).unwrap();
            Ok::<_, std::convert::Infallible>(format!("data: {data}\n\n"))
        });
        sse(axum::body::Body::from_stream(body))
    });
    let world = world(settings, hosted(&node));
    world.tasks.offer((0..40).map(|n| item(&format!("t{n}"))));
    for n in 0..40 {
        world.ended(&format!("t{n}")).await;
    }
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_capability_fails_with_its_reason() {
    let world = with_node(|_| result(ok("done")));
    let mut unknown = item("t1");
    unknown.route.as_mut().unwrap().capability = "ghost.walk".into();
    world.tasks.offer([unknown]);
    assert_eq!(world.ended("t1").await, "WF");
    assert_eq!(code(&world.tasks.steps("t1")), "UNKNOWN_CAPABILITY");
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"unknown\",outcome=\"error\"}"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_be_reached_is_said_to_be_so_and_tried_again_before_the_task_fails() {
    let world = world(Settings::default(), HashMap::new());
    let mut work = item("t1");
    work.lease_ms = 3_000;
    world.tasks.offer([work]);
    world.tasks.until(|store| store.heartbeats >= 3).await;
    assert_eq!(shape(&world.tasks.steps("t1")), "Ww", "it waits and says so");
    assert_eq!(world.ended("t1").await, "WwF");
    assert_eq!(code(&world.tasks.steps("t1")), "NODE_UNREACHABLE");
    assert!(world.metric("weft_bridge_retries_total") >= 4.0);
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"test.run\",outcome=\"unreachable\"}"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_comes_back_gets_the_same_work_under_the_same_key() {
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let seen = attempts.clone();
    let world = with_node(move |call| {
        let mut seen = seen.lock().unwrap();
        seen.push((call.request.attempt, call.request.idempotency_key));
        if seen.len() < 3 {
            http::StatusCode::SERVICE_UNAVAILABLE.into_response()
        } else {
            result(ok("done"))
        }
    });
    assert_eq!(world.run("t1").await, "WwaC");
    let key = || "key-t1".to_owned();
    assert_eq!(*attempts.lock().unwrap(), [(1, key()), (2, key()), (3, key())]);
}

#[tokio::test(start_paused = true)]
async fn nothing_leaves_unsealed_while_the_signer_is_down() {
    let calls = Arc::new(AtomicU32::new(0));
    let seen = calls.clone();
    let world = with_node(move |_| {
        seen.fetch_add(1, Ordering::SeqCst);
        result(ok("done"))
    });
    *world.signer.down.lock().unwrap() = true;
    assert_eq!(world.run("t1").await, "WwF");
    assert_eq!(code(&world.tasks.steps("t1")), "SIGNER_UNREACHABLE");
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_is_tried_again_only_while_nothing_was_passed_on() {
    let calls = Arc::new(AtomicU32::new(0));
    let seen = calls.clone();
    let world =
        with_node(move |call| match (call.request.task_id.as_str(), seen.fetch_add(1, Ordering::SeqCst)) {
            ("silent", 0) => events(vec![]),
            ("silent", _) => result(ok("done")),
            _ => events(vec![(Duration::ZERO, step(chunk("half")))]),
        });
    assert_eq!(world.run("silent").await, "WwaC");
    assert_eq!(world.run("half").await, "WaF");
    assert_eq!(code(&world.tasks.steps("half")), "STREAM_BROKEN");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn steps_of_a_node_pass_through_and_its_own_end_is_the_end() {
    let world = with_node(|call| {
        let pause = Duration::from_secs(1);
        let waits = call.request.task_id == "asks";
        let last = status(if waits { TaskState::InputRequired } else { TaskState::Completed });
        events(vec![
            (Duration::ZERO, step(status(TaskState::Working))),
            (pause, step(chunk("one"))),
            (pause, step(chunk("two"))),
            (pause, step(last)),
            (Duration::ZERO, step(chunk("too late"))),
            (Duration::ZERO, end(InvokeResult { ok: true, ..InvokeResult::default() })),
        ])
    });
    assert_eq!(world.run("t1").await, "WaaC");
    assert_eq!(world.run("asks").await, "WaaI");
    assert_eq!(world.tasks.store().commits.len(), 8, "what comes slowly is not held back");
    world.tasks.until(|_| world.metric("weft_bridge_running") == 0.0).await;
}

#[tokio::test(start_paused = true)]
async fn a_message_instead_of_a_task_stands_alone_unless_the_task_was_spoken_of() {
    let world = with_node(|call| {
        let mut said = vec![
            (Duration::ZERO, step(instead("here it is"))),
            (Duration::ZERO, step(chunk("too late"))),
            (Duration::ZERO, end(InvokeResult { ok: true, ..InvokeResult::default() })),
        ];
        match call.request.task_id.as_str() {
            "working" => said.insert(0, (Duration::ZERO, step(status(TaskState::Working)))),
            "artifact" => said.insert(0, (Duration::ZERO, step(chunk("one")))),
            _ => {}
        }
        events(said)
    });
    assert_eq!(world.run("alone").await, "m");
    assert_eq!(world.tasks.store().commits.len(), 1);
    assert_eq!(world.run("working").await, "WC");
    assert_eq!(world.run("artifact").await, "WaC");
    let steps = world.tasks.steps("artifact");
    let Some(progress::Step::Status(ended)) = &steps[2].step else { panic!("{steps:?}") };
    assert_eq!(ended.message, Some(reply("here it is")), "what was to be the answer ends the task");
    assert_eq!(world.metric("weft_bridge_runs_total{capability=\"test.run\",outcome=\"ok\"}"), 3.0);
}

#[tokio::test(start_paused = true)]
async fn garbage_is_the_nodes_fault_and_said_so() {
    let node = FakeNode::new("lab", |call| match call.request.task_id.as_str() {
        "text" => sse("data: not JSON\n\n".into()),
        "nothing" => sse("data: {}\n\n".into()),
        "html" => axum::response::Html("<p>hello</p>").into_response(),
        _ => sse(format!("data: {}\n\n", "x".repeat(50_000)).into()),
    });
    let settings = Settings { event_bytes_max: 10_000, ..Settings::default() };
    let world = world(settings, hosted(&node));
    for task in ["text", "nothing", "html", "endless"] {
        assert_eq!(world.run(task).await, "WF", "{task}");
        assert_eq!(code(&world.tasks.steps(task)), "INVALID_AGENT_RESPONSE", "{task}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_is_given_up_and_a_failing_one_keeps_its_own_code() {
    let world = with_node(|call| match call.request.task_id.as_str() {
        "silent" => events(vec![(Duration::from_secs(3_600), end(ok("late")))]),
        "denied" => {
            result(InvokeResult { denied: true, code: "WRONG_SCOPE".into(), ..InvokeResult::default() })
        }
        _ => result(InvokeResult { code: "SOURCE_UNAVAILABLE".into(), ..InvokeResult::default() }),
    });
    for (task, expected) in
        [("silent", "TIMEOUT"), ("denied", "WRONG_SCOPE"), ("broken", "SOURCE_UNAVAILABLE")]
    {
        assert_eq!(world.run(task).await, "WF", "{task}");
        assert_eq!(code(&world.tasks.steps(task)), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_outside_of_tasks_go_through_the_same_door() {
    let mut world = with_node(|call| {
        let arguments = call.request.arguments.unwrap_or_default();
        events(vec![(Duration::ZERO, step(chunk("one"))), (Duration::ZERO, end(ok(arguments)))])
    });
    world.tasks.until(|store| store.credit > 0).await;
    let arguments: Struct = [("a", Value::from("b"))].into_iter().collect();
    let call = BridgeInvokeRequest {
        node: "lab".into(),
        tool: "run".into(),
        arguments: Some(arguments.clone()),
        ..BridgeInvokeRequest::default()
    };
    let mut answer = world.client.invoke(call.clone()).await.unwrap().into_inner();
    assert!(matches!(answer.message().await.unwrap().unwrap().event, Some(invoke_event::Event::Progress(_))));
    let last = answer.message().await.unwrap().unwrap();
    assert_eq!(last, end(ok(arguments)));
    assert!(answer.message().await.unwrap().is_none());
    assert_eq!(world.signer.asked.lock().unwrap().len(), 1);

    let unknown =
        world.client.invoke(BridgeInvokeRequest { node: "ghost".into(), ..call }).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::NotFound);
    assert!(unknown.message().contains("lab"), "{unknown}");
}

#[tokio::test(start_paused = true)]
async fn each_node_is_probed_at_start_and_at_its_pace_and_the_catalog_hears_of_it() {
    let mut world = with_node(|_| result(ok("done")));
    let reports = world.catalog.reports.clone();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(reports.lock().unwrap().len(), 1);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let count = reports.lock().unwrap().len();
    assert!((4..=5).contains(&count), "{count} probes in a minute at one in 15 s");
    assert_eq!(reports.lock().unwrap()[0].health.as_ref().unwrap().state(), health::State::Up);
    let probed = world.client.probe(ProbeRequest { node: "lab".into() }).await.unwrap().into_inner();
    assert_eq!(probed.health.unwrap().state(), health::State::Up);
}

#[tokio::test(start_paused = true)]
async fn a_drain_stops_claiming_and_waits_for_what_runs() {
    let mut world = with_node(|_| events(vec![(Duration::from_secs(5), end(ok("slow")))]));
    world.tasks.offer([item("t1")]);
    world.tasks.until(|store| store.queue.is_empty()).await;
    let running = world.client.status(StatusRequest {}).await.unwrap().into_inner();
    assert_eq!((running.running[0].task_id.as_str(), running.running[0].tool.as_str()), ("t1", "run"));
    assert_eq!((running.capabilities, running.catalog_revision), (vec!["test.run".to_owned()], 7));

    let early = world.client.drain(DrainRequest { within_ms: 100 }).await.unwrap().into_inner();
    assert_eq!(early.left_running, 1);
    world.tasks.offer([item("t2")]);
    let done = world.client.drain(DrainRequest { within_ms: 60_000 }).await.unwrap().into_inner();
    assert_eq!(done.left_running, 0);
    assert_eq!(shape(&world.tasks.steps("t1")), "WaC");
    assert_eq!(world.tasks.store().queue.len(), 1, "the second is left for others");
    assert!(world.client.status(StatusRequest {}).await.unwrap().into_inner().draining);
}

#[tokio::test(start_paused = true)]
async fn when_the_mesh_stops_running_work_may_end_and_what_cannot_is_let_go() {
    let world = with_node(|call| {
        let pause = if call.request.task_id == "short" { 2 } else { 3_600 };
        events(vec![(Duration::from_millis(1), step(chunk("x"))), (Duration::from_secs(pause), end(ok("y")))])
    });
    world.tasks.offer([item("short"), item("long")]);
    world.tasks.until(|store| store.queue.is_empty()).await;
    assert!(world.env.drain(Duration::from_secs(30)).await, "everything of the bridge ends");
    assert_eq!(shape(&world.tasks.steps("short")), "WaaC");
    assert_eq!(shape(&world.tasks.steps("long")), "Wa");
}
