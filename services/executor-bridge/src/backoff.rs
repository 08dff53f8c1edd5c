//! Growing pauses between tries, jittered so that many clients of one service do not come back at once.

use std::time::Duration;

use weft_chassis::Env;

/// The pauses of one thing that is tried again and again.
pub(crate) struct Backoff {
    first: Duration,
    max: Duration,
    tries: u32,
}

impl Backoff {
    /// Starts with `first`, doubles, ends at `max`.
    pub(crate) fn new(first: Duration, max: Duration) -> Backoff {
        Backoff { first, max, tries: 0 }
    }

    /// For streams between the mesh's own services: 100 ms to 5 s.
    pub(crate) fn stream() -> Backoff {
        Backoff::new(Duration::from_millis(100), Duration::from_secs(5))
    }

    /// It worked: the next pause is short again.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }

    /// The next pause: between half of it and all of it.
    pub(crate) fn pause(&mut self, env: &Env) -> Duration {
        let whole = self.first.saturating_mul(1 << self.tries.min(16)).min(self.max);
        self.tries += 1;
        whole / 2 + jitter(whole / 2, env)
    }
}

/// A random part of `most`.
pub(crate) fn jitter(most: Duration, env: &Env) -> Duration {
    let mut random = [0u8; 2];
    env.fill(&mut random);
    most.mul_f64(f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pauses_grow_to_their_bound_and_start_over_after_a_success() {
        let env = Env::simulated(1);
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(800));
        let pauses: Vec<_> = (0..8).map(|_| backoff.pause(&env)).collect();
        for (pause, whole) in pauses.iter().zip([100, 200, 400, 800, 800, 800, 800, 800]) {
            let whole = Duration::from_millis(whole);
            assert!(*pause >= whole / 2 && *pause <= whole, "{pause:?} of {whole:?}");
        }
        backoff.reset();
        assert!(backoff.pause(&env) <= Duration::from_millis(100));
    }
}
