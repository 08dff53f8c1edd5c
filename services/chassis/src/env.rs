//! Clock, ids, spawning and shutdown of one mesh. Nothing here is global: ten meshes fit in one process.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use weft_proto::wkt::Timestamp;

use crate::Metrics;
use crate::outbound::Outbound;

/// What a service may ask of the world. Cheap to clone.
#[derive(Clone)]
pub struct Env {
    world: Arc<World>,
    tracker: TaskTracker,
    stop: CancellationToken,
    outbound: Outbound,
}

struct World {
    clock: Clock,
    entropy: Entropy,
    metrics: Metrics,
}

enum Clock {
    System,
    /// Wall time that follows tokio's (pausable) clock from a fixed start.
    Simulated {
        start_unix_nanos: i128,
        since: Instant,
    },
}

enum Entropy {
    System,
    /// SplitMix64: a repeatable stream for simulations, never for keys.
    Seeded(Mutex<u64>),
}

impl Env {
    /// The real world.
    pub fn system() -> Env {
        Env::with(Clock::System, Entropy::System)
    }

    /// A repeatable world: ids come from `seed`, wall time starts at 2026-01-01T00:00:00Z and follows tokio's clock.
    pub fn simulated(seed: u64) -> Env {
        const START_UNIX_NANOS: i128 = 1_767_225_600 * 1_000_000_000;
        Env::with(
            Clock::Simulated { start_unix_nanos: START_UNIX_NANOS, since: Instant::now() },
            Entropy::Seeded(Mutex::new(seed)),
        )
    }

    fn with(clock: Clock, entropy: Entropy) -> Env {
        let world = World { clock, entropy, metrics: Metrics::default() };
        Env {
            world: Arc::new(world),
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
            outbound: Outbound::default(),
        }
    }

    /// The same world, in which other machines are called in this way.
    #[must_use]
    pub fn reaching(self, outbound: Outbound) -> Env {
        Env { outbound, ..self }
    }

    /// The same world with spawned work and a stop of its own, for one role: roles stop one after the other, callers
    /// before callees. The outer stop stops it too.
    #[must_use]
    pub fn scope(&self) -> Env {
        Env {
            world: self.world.clone(),
            tracker: TaskTracker::new(),
            stop: self.stop.child_token(),
            outbound: self.outbound.clone(),
        }
    }

    /// Nanoseconds since the Unix epoch.
    #[allow(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn unix_nanos(&self) -> i128 {
        match &self.world.clock {
            Clock::System => std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)),
            Clock::Simulated { start_unix_nanos, since } => {
                start_unix_nanos + i128::try_from(since.elapsed().as_nanos()).unwrap_or(i128::MAX)
            }
        }
    }

    /// Wall time.
    pub fn now(&self) -> Timestamp {
        let nanos = self.unix_nanos();
        let seconds = nanos.div_euclid(1_000_000_000);
        Timestamp {
            seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
            nanos: i32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0),
        }
    }

    /// Wall time in whole milliseconds since the Unix epoch.
    pub fn unix_ms(&self) -> i64 {
        i64::try_from(self.unix_nanos() / 1_000_000).unwrap_or(i64::MAX)
    }

    /// A new UUID v7: sortable by time, 74 random bits.
    pub fn id(&self) -> String {
        let mut random = [0u8; 10];
        self.fill(&mut random);
        let ms = u64::try_from(self.unix_ms()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().to_string()
    }

    /// Fills `bytes` with randomness fit for nonces and ids (and, outside of simulations, for keys).
    ///
    /// # Panics
    /// When the operating system has no randomness to give.
    pub fn fill(&self, bytes: &mut [u8]) {
        match &self.world.entropy {
            Entropy::System => {
                getrandom::fill(bytes).expect("the operating system gives randomness");
            }
            Entropy::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                for chunk in bytes.chunks_mut(8) {
                    let word = split_mix(&mut state).to_le_bytes();
                    chunk.copy_from_slice(&word[..chunk.len()]);
                }
            }
        }
    }

    /// Runs `work` as a part of this mesh: a drain waits for it. Nobody joins it; it must report its own failures.
    #[allow(clippy::disallowed_methods, reason = "this is the tracked way to spawn")]
    pub fn spawn<F>(&self, work: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // Boxed here: the runtime moves a task several times while it makes it, and ours can be tens of kilobytes.
        tokio::spawn(self.tracker.track_future(Box::pin(work)));
    }

    /// Cancelled when the mesh is to stop: long loops and streams end on it.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// How other machines are called.
    pub fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    /// Where services count.
    pub fn metrics(&self) -> &Metrics {
        &self.world.metrics
    }

    /// Tells everything to stop and waits until all spawned work has ended. True when it all ended within the bound.
    pub async fn drain(&self, within: Duration) -> bool {
        self.stop.cancel();
        self.tracker.close();
        tokio::time::timeout(within, self.tracker.wait()).await.is_ok()
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_simulated_world_repeats_itself() {
        let (a, b) = (Env::simulated(7), Env::simulated(7));
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(a.now().seconds, 1_767_225_690);
        assert_eq!(a.id(), b.id());
        assert_ne!(a.id(), Env::simulated(8).id());
    }

    #[tokio::test]
    async fn a_drain_waits_for_spawned_work_and_says_when_it_does_not_end() {
        let env = Env::system();
        let stop = env.stop().clone();
        env.spawn(async move { stop.cancelled().await });
        assert!(env.drain(Duration::from_secs(30)).await);

        let stuck = Env::system();
        stuck.spawn(std::future::pending());
        assert!(!stuck.drain(Duration::from_millis(1)).await);
    }

    #[tokio::test]
    async fn a_scope_stops_alone_or_with_the_whole() {
        let whole = Env::system();
        let (a, b) = (whole.scope(), whole.scope());
        assert!(a.drain(Duration::from_secs(30)).await);
        assert!(a.stop().is_cancelled() && !b.stop().is_cancelled() && !whole.stop().is_cancelled());
        whole.stop().cancel();
        assert!(b.stop().is_cancelled());
    }
}
