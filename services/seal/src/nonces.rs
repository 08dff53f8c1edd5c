//! The memory of used seals: bounded, in memory, never forgetting one that could still be accepted.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::{SealFault, Window};

/// Remembers which seals were used, so that each is accepted once.
///
/// - *Keyed by second.* A replay has the same signed `created` as its original, so the entries of one second form one
///   set, and a whole set is dropped once its second has left the [`Window`], never earlier.
/// - *Full is closed.* At capacity fresh seals are refused with [`SealFault::Busy`]; live entries are never evicted.
/// - *A floor.* Nothing before the floor is accepted ([`SealFault::BeforeStart`]), since it is not known whether it
///   was used. It starts one second after the start: `created` has a granularity of one second, and an earlier
///   life of this checker may have accepted seals in the very second in which this life began. It rises with each
///   dropped set, so that a clock that is set back does not reopen what was forgotten.
///
/// What an earlier life accepted from a caller whose clock ran ahead by `n` seconds stays replayable until the
/// clock has passed it; `future_s_max = 0` closes that where both sides share a clock.
#[derive(Debug)]
pub struct Nonces {
    capacity: usize,
    window: Window,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    floor: i64,
    held: usize,
    /// The seals in use by the second they were created in; at most as many seconds as the window is long.
    by_second: BTreeMap<i64, HashSet<[u8; 16]>>,
}

impl Nonces {
    /// Entries held at most when nothing else is said: about 7 000 seals a second for as long as the default
    /// window is. Memory grows with use, to about 64 bytes an entry.
    pub const CAPACITY: usize = 2_097_152;

    /// An empty memory that began at `started` (Unix seconds, rounded down) and holds at most `capacity` entries.
    pub fn new(window: Window, capacity: usize, started: i64) -> Self {
        let floor = started.saturating_add(1);
        let memory = Mutex::new(Memory { floor, held: 0, by_second: BTreeMap::new() });
        Self { capacity, window, memory }
    }

    /// The acceptance window that entries outlive.
    pub fn window(&self) -> Window {
        self.window
    }

    /// How many entries are held, live or not yet dropped.
    pub fn held(&self) -> usize {
        self.lock().held
    }

    /// Burns a nonce: call it last, when everything else about the seal was found right, at the same `now`
    /// (Unix seconds) at which `created` was found to be inside the window.
    ///
    /// # Errors
    /// [`SealFault::BeforeStart`], [`SealFault::Replayed`] or [`SealFault::Busy`].
    pub fn burn(&self, key_id: &str, nonce: &str, created: i64, now: i64) -> Result<(), SealFault> {
        let entry = entry(key_id, nonce);
        let mut memory = self.lock();
        memory.drop_before(self.window.oldest(now));
        if created < memory.floor {
            return Err(SealFault::BeforeStart);
        }
        if memory.by_second.get(&created).is_some_and(|used| used.contains(&entry)) {
            return Err(SealFault::Replayed);
        }
        if memory.held >= self.capacity {
            return Err(SealFault::Busy);
        }
        memory.by_second.entry(created).or_default().insert(entry);
        memory.held += 1;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        // No code panics while it holds the lock half-way through a change.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Memory ===

impl Memory {
    fn drop_before(&mut self, oldest: i64) {
        while let Some(second) = self.by_second.first_entry().filter(|second| *second.key() < oldest) {
            let (created, used) = second.remove_entry();
            self.held -= used.len();
            self.floor = self.floor.max(created.saturating_add(1));
        }
    }
}

/// Names one use in fixed space: key ids and nonces hold no NUL, so no two pairs join to the same bytes.
fn entry(key_id: &str, nonce: &str) -> [u8; 16] {
    let digest = Sha256::new().chain_update(key_id).chain_update([0]).chain_update(nonce).finalize();
    let mut entry = [0; 16];
    entry.copy_from_slice(&digest[..16]);
    entry
}

#[cfg(test)]
mod tests {
    use super::Nonces;
    use crate::SealFault::{BeforeStart, Busy, Replayed};
    use crate::Window;

    const START: i64 = 1_800_000_000;

    fn nonces(capacity: usize) -> Nonces {
        Nonces::new(Window::default(), capacity, START)
    }

    #[test]
    fn a_nonce_is_good_once_for_as_long_as_its_seal_is_acceptable() {
        let nonces = nonces(9);
        let created = START + 60;
        assert_eq!(nonces.burn("k", "n", created, created - 30), Ok(()));
        for now in [created - 30, created, created + 299, created + 300] {
            assert_eq!(nonces.burn("k", "n", created, now), Err(Replayed), "{}", now - created);
        }
        assert_eq!(nonces.held(), 1);
        assert_eq!(nonces.burn("k", "other", created + 301, created + 301), Ok(()));
        assert_eq!(nonces.held(), 1, "the entry went when its seal became stale");
    }

    #[test]
    fn another_key_may_use_the_same_nonce() {
        let nonces = nonces(9);
        assert_eq!(nonces.burn("a", "n", START + 1, START + 1), Ok(()));
        assert_eq!(nonces.burn("b", "n", START + 1, START + 1), Ok(()));
        assert_eq!(nonces.burn("a", "n", START + 1, START + 1), Err(Replayed));
    }

    #[test]
    fn what_was_created_up_to_the_second_of_the_start_is_refused() {
        let nonces = nonces(9);
        assert_eq!(nonces.burn("k", "n", START - 100, START), Err(BeforeStart));
        assert_eq!(nonces.burn("k", "n", START, START), Err(BeforeStart));
        assert_eq!(nonces.burn("k", "n", START + 1, START), Ok(()), "sealed a second ahead it need not wait");
    }

    #[test]
    fn a_full_memory_refuses_fresh_seals_and_still_knows_the_used_ones() {
        let nonces = nonces(2);
        let at = START + 10;
        assert_eq!(nonces.burn("k", "1", at, at), Ok(()));
        assert_eq!(nonces.burn("k", "2", at + 1, at), Ok(()));
        assert_eq!(nonces.burn("k", "3", at + 1, at + 300), Err(Busy));
        assert_eq!(nonces.burn("k", "1", at, at + 300), Err(Replayed));
        assert_eq!(nonces.burn("k", "3", at + 301, at + 301), Ok(()), "the first has left the window");
    }

    #[test]
    fn a_clock_set_back_does_not_reopen_what_was_forgotten() {
        let nonces = nonces(9);
        let created = START + 10;
        assert_eq!(nonces.burn("k", "n", created, created), Ok(()));
        assert_eq!(nonces.burn("k", "later", created + 400, created + 400), Ok(()));
        assert_eq!(nonces.burn("k", "n", created, created), Err(BeforeStart));
        assert_eq!(nonces.burn("k", "fresh", created + 1, created), Ok(()));
    }

    #[test]
    fn of_many_at_once_one_gets_through() {
        let nonces = nonces(1000);
        let won = std::thread::scope(|scope| {
            let runs: Vec<_> =
                (0..8).map(|_| scope.spawn(|| nonces.burn("k", "n", START + 1, START + 1).is_ok())).collect();
            runs.into_iter().map(|run| run.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(won, 1);
    }
}
