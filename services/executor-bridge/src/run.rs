//! One run: from a work item to the steps that end its task.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use weft_chassis::trace;
use weft_proto::weft::{InvokeRequest, InvokeResult, WorkItem};

use crate::Bridge;
use crate::append::Lease;
use crate::backoff::Backoff;
use crate::directory::Target;
use crate::door::{Answer, Call, Event};
use crate::failure::Failure;
use crate::left::Left;
use crate::metrics::Ran;
use crate::outcome::{self, Said, Turn};
use crate::steps::Steps;

/// Pauses between tries of a node that cannot be reached.
const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Runs a work item beside everything else. One that is held already is not run twice.
pub(crate) fn start(bridge: &Arc<Bridge>, item: WorkItem) {
    let capability = item.route.as_ref().map_or("", |route| route.capability.as_str());
    let target = bridge.directory.borrow().as_ref().and_then(|directory| directory.target(capability));
    let Some(lease) = bridge.appender.open(&item, target.as_deref(), &bridge.env) else { return };
    let span = tracing::info_span!(
        target: "weft::bridge",
        "run",
        otel.name = %format_args!("run {capability}"),
        otel.kind = "consumer",
        otel.status_code = Empty,
        weft.task.id = item.task_id,
        weft.attempt = item.attempt,
        weft.capability = capability,
        weft.outcome = Empty,
    );
    trace::adopt_texts(&span, &item.traceparent, &item.tracestate);
    let work = run(bridge.clone(), item, target, lease).instrument(span);
    bridge.env.spawn(work);
}

async fn run(bridge: Arc<Bridge>, item: WorkItem, target: Option<Arc<Target>>, lease: Lease) {
    // A capability that is not in the catalog must not become a label of its own: callers could make any number.
    let label = target.as_ref().map_or("unknown", |target| target.capability.as_str());
    let _running = bridge.metrics.running();
    let left = target.as_ref().and_then(|target| Left::of(&item, target));
    let mut given_up = false;
    let ran = tokio::select! {
        biased;
        () = lease.stopped() => Ran::Cancelled,
        ran = work(&bridge, item, target.as_deref(), &lease, &mut given_up) => ran,
    };
    // A run that stops for any other reason is taken up again, and its agent's work with it.
    if let Some(left) = left.filter(|_| lease.task_ended() || given_up) {
        left.tell(&bridge);
    }
    let span = Span::current();
    span.record("weft.outcome", ran.as_str());
    if ran.is_bad() {
        span.record("otel.status_code", "ERROR");
    }
    bridge.metrics.ran(label, ran);
}

/// `given_up` becomes true when the run ends without a word of its node.
async fn work(
    bridge: &Bridge,
    item: WorkItem,
    target: Option<&Target>,
    lease: &Lease,
    given_up: &mut bool,
) -> Ran {
    let mut turn = Turn::of(&item);
    let mut steps = Steps::new(lease, &bridge.settings);
    let Some(target) = target else {
        let capability = item.route.map_or_else(String::new, |route| route.capability);
        return steps.fail(&turn, &Failure::UnknownCapability(capability)).await;
    };
    turn.aim(target);
    let mut request = InvokeRequest {
        tool: target.tool.clone(),
        arguments: item.route.and_then(|route| route.arguments),
        message: item.message,
        task_id: item.task_id,
        context_id: item.context_id,
        attempt: item.attempt,
        idempotency_key: item.idempotency_key,
    };
    let mut tries = Tries::new(Duration::from_millis(bridge.settings.unreachable_ms));
    loop {
        let mut said = Said::default();
        let failure = match attempt(bridge, target, &request, &mut steps, &mut said).await {
            Ok((result, answer)) => {
                let ran = steps.settle(&turn, result, said).await;
                answer.finish().await;
                return ran;
            }
            // What the node said stands, whatever became of the connection afterwards.
            Err(_) if said.ended => return said.ran(),
            Err(failure) => failure,
        };
        if said.any || !failure.passing() || !tries.left() {
            *given_up = true;
            return steps.fail(&turn, &failure).await;
        }
        if tries.first() {
            steps.say(outcome::waiting(&turn, &failure)).await;
        }
        bridge.metrics.retry();
        tokio::time::sleep(tries.backoff.pause(&bridge.env)).await;
        request.attempt += 1;
    }
}

/// One call, its steps handed on as they come.
async fn attempt(
    bridge: &Bridge,
    target: &Target,
    request: &InvokeRequest,
    steps: &mut Steps<'_>,
    said: &mut Said,
) -> Result<(InvokeResult, Answer), Failure> {
    let call = Call { place: &target.place, request, within: bridge.door.limits.call };
    let mut answer = steps.gather(bridge.door.call(call)).await?;
    loop {
        match steps.gather(answer.next()).await? {
            // The store takes nothing after an end; the result that follows is waited for all the same.
            Event::Step(_) if said.ended => {}
            Event::Step(step) => {
                said.take(&step);
                steps.add(step, said.ended).await?;
            }
            Event::End(result) => return Ok((result, answer)),
        }
    }
}

/// How long a node that cannot be reached is tried again.
struct Tries {
    until: Instant,
    backoff: Backoff,
    noted: bool,
}

impl Tries {
    fn new(within: Duration) -> Tries {
        Tries { until: Instant::now() + within, backoff: Backoff::new(RETRY.0, RETRY.1), noted: false }
    }

    fn left(&self) -> bool {
        Instant::now() < self.until
    }

    fn first(&mut self) -> bool {
        !std::mem::replace(&mut self.noted, true)
    }
}
