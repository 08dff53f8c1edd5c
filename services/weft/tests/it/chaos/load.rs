//! Clients that send until they are answered, and remember everything they were told.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use weft_proto::a2a::Task;

use super::sweep::Dice;
use crate::client::{Client, Event, Events, Failure, said, said_at_once, settled, state, state_of};

/// How long one message may take, however often the mesh is killed meanwhile.
const MESSAGE_WITHIN: Duration = Duration::from_secs(120);
/// Pause before a message is sent again.
const PAUSE: Duration = Duration::from_millis(40);

/// One message and what its sender was told.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) text: String,
    pub(super) key: String,
    /// Every task that was ever named in an answer to it.
    pub(super) tasks: BTreeSet<String>,
    /// Every event that was read.
    pub(super) events: Vec<Event>,
    pub(super) tries: u32,
}

/// Shared by all clients of one sweep.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) stop: AtomicBool,
    pub(super) answered: AtomicU64,
}

/// How a message is sent.
#[derive(Clone, Copy)]
enum Way {
    Blocking,
    AtOnce,
    Streaming,
}

/// Sends one message after the other until told to stop; the last one is answered too.
pub(super) async fn client(client: Client, number: u64, seed: u64, shared: Arc<Shared>) -> Vec<Sent> {
    let mut dice = Dice(seed ^ (number + 1));
    let mut all = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        let name = format!("{number}-{}", all.len());
        let text = if dice.below(3) == 0 { format!("echo {name}") } else { format!("job {name}") };
        let way = [Way::Blocking, Way::AtOnce, Way::Streaming, Way::Streaming][dice.below(4)];
        let mut sent = Sent { text, key: format!("key-{name}"), ..Sent::default() };
        let answered =
            tokio::time::timeout(MESSAGE_WITHIN, until_answered(&client, way, &mut sent, &mut dice));
        if answered.await.is_err() {
            panic!("no answer within {MESSAGE_WITHIN:?}: {sent:?}");
        }
        shared.answered.fetch_add(1, Ordering::Relaxed);
        all.push(sent);
    }
    all
}

async fn until_answered(client: &Client, way: Way, sent: &mut Sent, dice: &mut Dice) {
    while !attempt(client, way, sent, dice).await {
        sent.tries += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

/// True when the answer was whole.
async fn attempt(client: &Client, way: Way, sent: &mut Sent, dice: &mut Dice) -> bool {
    let key = sent.key.clone();
    let headers = [("idempotency-key", key.as_str())];
    let outcome = match way {
        Way::Blocking => client.send(&said(&sent.text), &headers).await.map(|task| sent.hear(&task)),
        Way::AtOnce => client.send(&said_at_once(&sent.text), &headers).await.map(|task| {
            sent.hear(&task);
            true
        }),
        Way::Streaming => match resumed(client, sent, dice).await {
            Some(outcome) => outcome,
            None => match client.stream("SendStreamingMessage", &said(&sent.text), &headers).await {
                Ok(events) => sent.read(events).await,
                Err(failure) => Err(failure),
            },
        },
    };
    outcome.unwrap_or_else(|failure| {
        assert!(passing(&failure), "{}: {failure:?}", sent.text);
        false
    })
}

/// Half of the returning readers go on after the last event they saw, the others send again.
async fn resumed(client: &Client, sent: &mut Sent, dice: &mut Dice) -> Option<Result<bool, Failure>> {
    let last = sent.events.last()?.0;
    if dice.below(2) == 0 {
        return None;
    }
    let task = sent.tasks.first()?.clone();
    let events = match client.subscribe(&task, Some(last)).await {
        Ok(events) => events,
        // It was the last one: nothing was missed.
        Err(Failure::Refused { reason, .. }) if reason == "UNSUPPORTED_OPERATION" => return Some(Ok(true)),
        Err(failure) => return Some(Err(failure)),
    };
    Some(sent.read(events).await)
}

/// True for a failure after which a client tries again.
fn passing(failure: &Failure) -> bool {
    match failure {
        Failure::Away(_) => true,
        Failure::Refused { reason, .. } => {
            matches!(reason.as_str(), "UNAVAILABLE" | "RESOURCE_EXHAUSTED" | "DEADLINE_EXCEEDED")
        }
    }
}

// === impl Sent ===

impl Sent {
    /// True when the task has come to rest.
    fn hear(&mut self, task: &Task) -> bool {
        self.tasks.insert(task.id.clone());
        settled(state(task))
    }

    /// Reads a stream to its end; true when that was a good one.
    async fn read(&mut self, mut events: Events) -> Result<bool, Failure> {
        let began = Instant::now();
        let (mut last, mut before) = (None, None::<u64>);
        while let Some(event) = events.next().await {
            let (seq, body) = event?;
            if let Some(before) = before {
                assert_eq!(seq, before + 1, "{}: an event is missing or doubled", self.text);
            }
            before = Some(seq);
            if let Some(task) = task_of(&body) {
                self.tasks.insert(task);
            }
            last = state_of(&body).or(last);
            self.events.push((seq, body));
            assert!(began.elapsed() < MESSAGE_WITHIN);
        }
        assert!(last.is_some_and(settled), "{}: the stream ended well in {last:?}", self.text);
        Ok(true)
    }
}

fn task_of(event: &weft_proto::a2a::StreamResponse) -> Option<String> {
    use weft_proto::a2a::stream_response::Payload;
    match event.payload.as_ref()? {
        Payload::Task(task) => Some(task.id.clone()),
        Payload::StatusUpdate(update) => Some(update.task_id.clone()),
        Payload::ArtifactUpdate(update) => Some(update.task_id.clone()),
        Payload::Message(_) => None,
    }
}
