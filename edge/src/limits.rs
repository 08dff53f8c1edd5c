//! How much the edge takes on at once: calls per address and second, messages per principal and minute, calls under way,
//! open streams.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use weft_core::Fault;

use crate::Settings;
use crate::access::{Standing, Who};
use crate::metrics::Counters;

/// Callers are told apart by this many buckets, so that no flood of addresses can fill the memory. Two callers in one
/// bucket share its rate; which ones is different in every process.
const BUCKETS: u64 = 65_536;
/// Most different rates of messages at once; the access file names few.
const RATES_MAX: usize = 64;
/// Advice to a caller that met a full house, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// The limits of one edge.
pub(crate) struct Limits {
    rate: DefaultKeyedRateLimiter<u16>,
    /// By messages a minute: each rate has its own buckets of principals.
    messages: Mutex<BTreeMap<NonZeroU32, Arc<DefaultKeyedRateLimiter<u16>>>>,
    /// What holds for those of whom the access file says nothing; none: no bound.
    messages_per_minute: Option<NonZeroU32>,
    clock: DefaultClock,
    hasher: RandomState,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    owners: Arc<Owners>,
    counters: Counters,
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
    pub(crate) fn new(settings: &Settings, counters: &Counters) -> Limits {
        let per_second = NonZeroU32::new(settings.rate_per_second).unwrap_or(NonZeroU32::MIN);
        let burst = NonZeroU32::new(settings.rate_burst).unwrap_or(NonZeroU32::MIN);
        Limits {
            rate: RateLimiter::keyed(Quota::per_second(per_second).allow_burst(burst)),
            messages: Mutex::default(),
            messages_per_minute: NonZeroU32::new(settings.messages_per_minute),
            clock: DefaultClock::default(),
            hasher: RandomState::new(),
            calls: Arc::new(Semaphore::new(size(settings.calls_max))),
            streams: Arc::new(Semaphore::new(size(settings.streams_max))),
            owners: Arc::new(Owners { open: Mutex::default(), most: settings.owner_streams_max }),
            counters: counters.clone(),
        }
    }

    /// Takes one call off a caller's rate.
    ///
    /// # Errors
    /// `Exhausted` with the time to wait.
    pub(crate) fn rate(&self, peer: IpAddr) -> Result<(), Fault> {
        self.check(&self.rate, self.bucket(peer)).map_err(|wait_ms| {
            self.counters.limited("rate_per_second");
            Fault::exhausted("too many calls from this address (edge.rate_per_second): slow down", wait_ms)
        })
    }

    /// Takes one message off a principal's rate; of those who are nobody in particular, off that of their address.
    ///
    /// # Errors
    /// `Exhausted` with the time to wait.
    pub(crate) fn message(&self, who: &Who) -> Result<(), Fault> {
        let own = NonZeroU32::new(who.allowance.messages_per_minute);
        let common = self.messages_per_minute.filter(|_| who.standing != Standing::Local);
        let Some(per_minute) = own.or(common) else { return Ok(()) };
        self.check(&self.messages_at(per_minute), self.bucket_of(&who.account)).map_err(|wait_ms| {
            self.counters.limited("messages_per_minute");
            let text = format!("too many messages: you may send {per_minute} a minute, slow down");
            Fault::exhausted(text, wait_ms)
        })
    }

    fn messages_at(&self, per_minute: NonZeroU32) -> Arc<DefaultKeyedRateLimiter<u16>> {
        let mut rates = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if rates.len() >= RATES_MAX && !rates.contains_key(&per_minute) {
            rates.pop_first();
        }
        let made = || Arc::new(RateLimiter::keyed(Quota::per_minute(per_minute)));
        Arc::clone(rates.entry(per_minute).or_insert_with(made))
    }

    /// # Errors
    /// The time to wait, in milliseconds.
    fn check(&self, rate: &DefaultKeyedRateLimiter<u16>, bucket: u16) -> Result<(), u32> {
        rate.check_key(&bucket).map_err(|refused| {
            let wait = refused.wait_time_from(self.clock.now());
            u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).max(1)
        })
    }

    /// Leave for one call.
    ///
    /// # Errors
    /// `Exhausted` when too many are under way.
    pub(crate) fn call(&self) -> Result<Permit, Fault> {
        let full = || {
            self.counters.limited("calls_max");
            Fault::exhausted("too many calls are under way (edge.calls_max): try again", RETRY_MS)
        };
        Arc::clone(&self.calls).try_acquire_owned().map_err(|_| full())
    }

    /// Leave for one open stream of a caller.
    ///
    /// # Errors
    /// `Exhausted` when the caller, or all of them, have too many open.
    pub(crate) fn stream(&self, who: &Who) -> Result<StreamPermit, Fault> {
        let full = || {
            self.counters.limited("streams_max");
            Fault::exhausted("too many streams are open (edge.streams_max): try again", RETRY_MS)
        };
        let any = Arc::clone(&self.streams).try_acquire_owned().map_err(|_| full())?;
        let most = match who.allowance.streams_max {
            0 => self.owners.most,
            own => own,
        };
        let mut open = self.owners.lock();
        let count = open.get(&who.account).copied().unwrap_or_default();
        if count >= most {
            self.counters.limited("owner_streams_max");
            let text = format!("you have {count} streams open (edge.owner_streams_max): close one first");
            return Err(Fault::exhausted(text, RETRY_MS));
        }
        open.insert(who.account.clone(), count + 1);
        drop(open);
        Ok(StreamPermit { owners: Arc::clone(&self.owners), owner: who.account.clone(), _any: any })
    }

    /// One machine has a whole /64 of IPv6 addresses to call from.
    fn bucket(&self, peer: IpAddr) -> u16 {
        let network = match peer {
            IpAddr::V4(v4) => u128::from(v4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits() >> 64 | 1 << 127,
        };
        self.bucket_of(&network)
    }

    fn bucket_of(&self, key: &(impl Hash + ?Sized)) -> u16 {
        u16::try_from(self.hasher.hash_one(key) % BUCKETS).unwrap_or(0)
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
mod tests;
