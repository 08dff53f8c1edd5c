//! The sweep: load, kills at random moments, and the account at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use weft_chassis::Env;
use weft_core::task::fold;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Task, TaskState};

use super::load::{Sent, Shared, client};
use crate::client::{Client, artifacts, settled, state};
use crate::process::Deployment;
use crate::world::Form;

/// How long the mesh may take to bring every task to rest once nobody kills it any more.
const REST_WITHIN: Duration = Duration::from_secs(60);
/// How long a kill waits for a task that is under way.
const WORK_WITHIN: Duration = Duration::from_secs(10);

/// One sweep.
pub(super) struct Sweep {
    pub(super) form: Form,
    pub(super) kills: u32,
    pub(super) clients: u64,
}

/// SplitMix64: the same seed throws the same numbers.
pub(super) struct Dice(pub(super) u64);

/// What was under way when something was killed.
#[derive(Default)]
struct Histogram {
    /// Kills, by what was killed.
    killed: BTreeMap<&'static str, u32>,
    /// Kills at which a task was in this state.
    in_state: BTreeMap<&'static str, u32>,
}

impl Dice {
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % most as u64) as usize
    }
}

/// `WEFT_CHAOS_SEED`, or another one each time.
fn seed() -> u64 {
    let given =
        std::env::var("WEFT_CHAOS_SEED").ok().map(|text| text.parse().expect("WEFT_CHAOS_SEED is a number"));
    given.unwrap_or_else(|| Env::system().unix_ms().unsigned_abs())
}

// === impl Sweep ===

impl Sweep {
    pub(super) async fn run(self) {
        let (seed, began) = (seed(), Instant::now());
        println!("{:?}: {} kills, {} clients, WEFT_CHAOS_SEED={seed}", self.form, self.kills, self.clients);
        let dir = tempfile::tempdir().unwrap();
        // Any number of attempts: what is under way must then end well, not just end.
        let flags = [
            "--tasks-lease-ms=1000",
            "--tasks-attempts-max=1000",
            "--bridge-drain-ms=1000",
            "--telemetry-log=warn",
        ];
        let mut mesh = Deployment::start(self.form, dir.path(), &flags, &[]).await;
        let shared = Arc::new(Shared::default());
        let clients: Vec<_> = (0..self.clients)
            .map(|number| tokio::spawn(client(mesh.client.clone(), number, seed, shared.clone())))
            .collect();
        let histogram = self.kill(&mut mesh, &shared, &mut Dice(seed)).await;
        shared.stop.store(true, Ordering::Relaxed);
        let mut sent = Vec::new();
        for client in clients {
            sent.extend(client.await.unwrap());
        }
        account(&mesh.client, &sent).await;
        mesh.stop().await;
        let store = mesh.check_store().await;
        histogram.print(self.kills);
        let tries: u32 = sent.iter().map(|sent| sent.tries).sum();
        println!("{} messages, {tries} sent again, {:?}; {}", sent.len(), began.elapsed(), store.trim());
    }

    /// Kills and revives, as often as was asked for.
    async fn kill(&self, mesh: &mut Deployment, shared: &Shared, dice: &mut Dice) -> Histogram {
        let mut histogram = Histogram::default();
        for kill in 0..self.kills {
            until_answered(shared, 1 + dice.below(4) as u64).await;
            tokio::time::sleep(Duration::from_millis(dice.below(250) as u64)).await;
            let name = match self.form {
                Form::Together => "all",
                Form::Apart => ["tasks", "bridge"][dice.below(2)],
            };
            // Three of four kills hit while a task is under way for certain, the others whenever it comes.
            let states = under_way(&mesh.client, kill % 4 != 3).await;
            mesh.kill(name);
            histogram.add(name, &states);
            if name != "bridge" && dice.below(3) == 0 {
                mesh.check_store().await;
            }
            tokio::time::sleep(Duration::from_millis(dice.below(150) as u64)).await;
            mesh.revive(name).await;
        }
        histogram
    }
}

/// Waits until so many messages more were answered: the mesh works again.
async fn until_answered(shared: &Shared, more: u64) {
    let wanted = shared.answered.load(Ordering::Relaxed) + more;
    let began = Instant::now();
    while shared.answered.load(Ordering::Relaxed) < wanted {
        assert!(began.elapsed() < REST_WITHIN, "nothing is answered any more");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How many tasks are in each state that is not the end; waits for one that is WORKING when there must be one.
async fn under_way(client: &Client, working: bool) -> BTreeMap<&'static str, i32> {
    let began = Instant::now();
    loop {
        let mut states = BTreeMap::new();
        for state in [TaskState::Submitted, TaskState::Working] {
            let query = json!({ "status": state.as_str_name(), "pageSize": 1 });
            if let Ok(page) = client.list(&query).await
                && page.total_size > 0
            {
                states.insert(state.as_str_name(), page.total_size);
            }
        }
        if !working || states.contains_key(TaskState::Working.as_str_name()) {
            return states;
        }
        assert!(began.elapsed() < WORK_WITHIN, "no task is under way");
    }
}

/// Every message has one task, each is at rest and holds what was asked for, and every event that was read is in it.
async fn account(client: &Client, sent: &[Sent]) {
    let mut known = BTreeSet::new();
    for sent in sent {
        let [id] = Vec::from_iter(&sent.tasks)[..] else { panic!("one message, one task: {sent:?}") };
        assert!(known.insert(id.clone()), "two messages in one task: {sent:?}");
        let task = at_rest(client, id).await;
        assert_eq!(state(&task), TaskState::Completed, "{sent:?}: {task:?}");
        let text = &sent.text;
        let wanted = match text.split_once(' ').unwrap().0 {
            "echo" => text.clone(),
            _ => (1..=3).map(|n| format!("chunk {n} of {text}\n")).collect(),
        };
        assert_eq!(artifacts(&task), wanted, "{sent:?}");
        if !sent.events.is_empty() {
            compare(client, id, sent).await;
        }
    }
    let total = client.list(&json!({ "pageSize": 1 })).await.unwrap().total_size;
    assert_eq!(usize::try_from(total).unwrap(), known.len(), "a task that nobody sent a message for");
}

async fn at_rest(client: &Client, id: &str) -> Task {
    let began = Instant::now();
    loop {
        let task = client.task(id).await.unwrap_or_else(|failure| panic!("task {id} is lost: {failure:?}"));
        if settled(state(&task)) {
            return task;
        }
        assert!(began.elapsed() < REST_WITHIN, "stuck: {task:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Holds what a client read against the events that are kept.
async fn compare(client: &Client, id: &str, sent: &Sent) {
    let kept = client.subscribe(id, Some(0)).await.unwrap().rest().await;
    let numbers: Vec<u64> = kept.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, Vec::from_iter(1..=numbers.len() as u64), "the kept events have a gap");
    for (seq, event) in &sent.events {
        let at = usize::try_from(*seq).unwrap();
        assert!(at <= kept.len(), "event {seq} is lost: {event:?}");
        let Some(Payload::Task(snapshot)) = &event.payload else {
            assert_eq!(event, &kept[at - 1].1, "event {seq} is another one now");
            continue;
        };
        let mut folded = Task::default();
        kept[..at].iter().for_each(|(_, event)| fold(&mut folded, event));
        assert_eq!(snapshot.artifacts, folded.artifacts, "the snapshot at {seq} was of something else");
        assert_eq!(snapshot.status, folded.status, "the snapshot at {seq} was of something else");
    }
}

// === impl Histogram ===

impl Histogram {
    fn add(&mut self, name: &'static str, states: &BTreeMap<&'static str, i32>) {
        *self.killed.entry(name).or_default() += 1;
        for state in states.keys() {
            *self.in_state.entry(state).or_default() += 1;
        }
        if states.is_empty() {
            *self.in_state.entry("nothing under way").or_default() += 1;
        }
    }

    /// Says it, and that at least half of the kills hit work under way.
    fn print(&self, kills: u32) {
        println!("killed: {:?}", self.killed);
        println!("kills at which a task was in this state: {:?}", self.in_state);
        let working = self.in_state.get(TaskState::Working.as_str_name()).copied().unwrap_or_default();
        assert!(working * 2 >= kills, "only {working} of {kills} kills hit a task under way");
    }
}
