//! How much the edge takes on at once: calls per caller and second, calls under way, open streams.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weft_core::Fault;

use crate::Settings;

/// Callers are told apart by this many buckets, so that no flood of addresses can fill the memory. Two callers in one
/// bucket share its rate; which ones is different in every process.
const BUCKETS: u64 = 65_536;
/// Advice to a caller that met a full house, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// The limits of one edge.
pub(crate) struct Limits {
    rate: DefaultKeyedRateLimiter<u16>,
    clock: DefaultClock,
    hasher: RandomState,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    owners: Arc<Owners>,
}

/// How many streams each owner has open; an owner without one is not in it.
struct Owners {
    open: Mutex<HashMap<String, u32>>,
    most: u32,
}

/// Leave to keep a stream open, until it is dropped.
pub(crate) struct StreamPermit {
    owners: Arc<Owners>,
    owner: String,
    _any: Permit,
}

/// Leave to make a call, until it is dropped.
pub(crate) type Permit = OwnedSemaphorePermit;

// === impl Limits ===

impl Limits {
    pub(crate) fn new(settings: &Settings) -> Limits {
        let per_second = NonZeroU32::new(settings.rate_per_second).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(settings.rate_burst).unwrap_or(NonZeroU32::MIN);
        Limits {
            rate: RateLimiter::keyed(Quota::per_second(per_second).allow_burst(burst)),
            clock: DefaultClock::default(),
            hasher: RandomState::new(),
            calls: Arc::new(Semaphore::new(size(settings.calls_max))),
            streams: Arc::new(Semaphore::new(size(settings.streams_max))),
            owners: Arc::new(Owners { open: Mutex::default(), most: settings.owner_streams_max }),
        }
    }

    /// Takes one call off a caller's rate.
    ///
    /// # Errors
    /// `Exhausted` with the time to wait.
    pub(crate) fn rate(&self, peer: IpAddr) -> Result<(), Fault> {
        self.rate.check_key(&self.bucket(peer)).map_err(|refused| {
            let wait = refused.wait_time_from(self.clock.now());
            let wait_ms = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).max(1);
            Fault::exhausted("too many calls from this address (edge.rate_per_second): slow down", wait_ms)
        })
    }

    /// Leave for one call.
    ///
    /// # Errors
    /// `Exhausted` when too many are under way.
    pub(crate) fn call(&self) -> Result<Permit, Fault> {
        let full = || Fault::exhausted("too many calls are under way (edge.calls_max): try again", RETRY_MS);
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| full())
    }

    /// Leave for one open stream of an owner.
    ///
    /// # Errors
    /// `Exhausted` when the owner, or all of them, have too many open.
    pub(crate) fn stream(&self, owner: &str) -> Result<StreamPermit, Fault> {
        let full = || Fault::exhausted("too many streams are open (edge.streams_max): try again", RETRY_MS);
        let any = Arc::clone(&self.streams).try_acquire_owned().map_err(|_| full())?;
        let mut open = self.owners.lock();
        let count = open.entry(owner.to_owned()).or_default();
        if *count >= self.owners.most {
            let text = "you have too many streams open (edge.owner_streams_max): close one first";
            return Err(Fault::exhausted(text, RETRY_MS));
        }
        *count += 1;
        drop(open);
        Ok(StreamPermit { owners: Arc::clone(&self.owners), owner: owner.to_owned(), _any: any })
    }

    /// One machine has a whole /64 of IPv6 addresses to call from.
    fn bucket(&self, peer: IpAddr) -> u16 {
        let network = match peer {
            IpAddr::V4(v4) => u128::from(v4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits() >> 64 | 1 << 127,
        };
        u16::try_from(self.hasher.hash_one(network) % BUCKETS).unwrap_or(0)
    }
}

// === impl Owners ===

impl Owners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl StreamPermit ===

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.owners.lock();
        if let Some(count) = open.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.owner);
            }
        }
    }
}

fn size(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_over_its_rate_is_told_when_to_come_again_and_others_go_on() {
        let limits = Limits::new(&Settings { rate_per_second: 1, rate_burst: 2, ..Settings::default() });
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        assert!(limits.rate(one).is_ok() && limits.rate(one).is_ok());
        let fault = limits.rate(one).unwrap_err();
        assert!(fault.retry_after_ms.is_some_and(|ms| (1..=1_000).contains(&ms)), "{fault:?}");
        if limits.bucket(one) != limits.bucket(other) {
            assert!(limits.rate(other).is_ok());
        }
    }

    #[test]
    fn a_permit_comes_back_when_it_is_dropped() {
        let limits = Limits::new(&Settings { calls_max: 1, streams_max: 1, ..Settings::default() });
        let held = (limits.call().unwrap(), limits.stream("a").unwrap());
        assert!(limits.call().is_err() && limits.stream("b").is_err());
        drop(held);
        assert!(limits.call().is_ok() && limits.stream("b").is_ok());
    }

    #[test]
    fn one_owner_cannot_take_every_stream() {
        let limits = Limits::new(&Settings { owner_streams_max: 2, ..Settings::default() });
        let held = [limits.stream("a").unwrap(), limits.stream("a").unwrap()];
        assert!(limits.stream("a").is_err());
        assert!(limits.stream("b").is_ok());
        drop(held);
        assert!(limits.owners.lock().is_empty(), "nothing is kept of owners without a stream");
        assert!(limits.stream("a").is_ok());
    }
}
