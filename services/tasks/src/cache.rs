//! The tasks in memory: all that are in use, and a bounded number of others.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::TaskId;
use crate::slot::Slot;

/// Tasks looked at a call when room is made; more calls do the rest.
const SWEEP: usize = 8;
/// What a task takes in memory beyond its bytes on disk.
const OVERHEAD_BYTES: u64 = 2_048;

/// At most one slot a task, so that all who write to a task meet.
pub(crate) struct Cache {
    held: Mutex<Held>,
    tasks_max: usize,
    bytes_max: u64,
}

#[derive(Default)]
struct Held {
    slots: HashMap<TaskId, Place>,
    /// In the order in which they came; a task in use goes to the end again.
    order: VecDeque<TaskId>,
    bytes: u64,
}

struct Place {
    slot: Arc<Slot>,
    bytes: u64,
}

impl Cache {
    pub(crate) fn new(tasks_max: u32, bytes_max: u64) -> Cache {
        Cache { held: Mutex::default(), tasks_max: tasks_max as usize, bytes_max }
    }

    /// The slot of a task, made when there is none.
    pub(crate) fn slot(&self, task: TaskId) -> Arc<Slot> {
        let mut held = self.lock();
        let held = &mut *held;
        match held.slots.entry(task) {
            Entry::Occupied(place) => place.get().slot.clone(),
            Entry::Vacant(place) => {
                let slot = Arc::new(Slot::new(task));
                place.insert(Place { slot: slot.clone(), bytes: 0 });
                held.order.push_back(task);
                held.make_room(self.tasks_max, self.bytes_max);
                slot
            }
        }
    }

    /// The slot, when there is one.
    pub(crate) fn known(&self, task: TaskId) -> Option<Arc<Slot>> {
        self.lock().slots.get(&task).map(|place| place.slot.clone())
    }

    /// Notes how many bytes a task has on disk now.
    pub(crate) fn weigh(&self, task: TaskId, bytes: u64) {
        let bytes = bytes + OVERHEAD_BYTES;
        let mut held = self.lock();
        let held = &mut *held;
        if let Some(place) = held.slots.get_mut(&task) {
            held.bytes = held.bytes - place.bytes + bytes;
            place.bytes = bytes;
            if held.bytes > self.bytes_max {
                held.make_room(self.tasks_max, self.bytes_max);
            }
        }
    }

    /// Lets go of the slot of a task that could not be loaded, unless somebody else holds it.
    pub(crate) fn release(&self, slot: &Arc<Slot>) {
        let mut held = self.lock();
        let task = slot.id();
        let is_idle = |place: &Place| {
            // New holders come only through this lock: the place and the caller are all.
            Arc::ptr_eq(&place.slot, slot) && Arc::strong_count(slot) == 2 && slot.now().is_none()
        };
        if held.slots.get(&task).is_some_and(is_idle)
            && let Some(place) = held.slots.remove(&task)
        {
            held.bytes -= place.bytes;
        }
    }

    /// Lets go of a task that does not exist (any more).
    pub(crate) fn forget(&self, task: TaskId) {
        let mut held = self.lock();
        if let Some(place) = held.slots.remove(&task) {
            held.bytes -= place.bytes;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn make_room(&mut self, tasks_max: usize, bytes_max: u64) {
        for _ in 0..SWEEP {
            if self.slots.len() <= tasks_max && self.bytes <= bytes_max && self.order.len() <= tasks_max * 2 {
                return;
            }
            let Some(oldest) = self.order.pop_front() else { return };
            let Some(place) = self.slots.get(&oldest) else { continue };
            // New holders come only through this lock, so one owner means that nobody uses it.
            if Arc::strong_count(&place.slot) > 1 {
                self.order.push_back(oldest);
                continue;
            }
            self.bytes -= place.bytes;
            self.slots.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> TaskId {
        TaskId::new([n; 16])
    }

    #[test]
    fn room_is_made_by_the_oldest_that_nobody_uses() {
        let cache = Cache::new(2, 1_000);
        let used = cache.slot(id(1));
        cache.slot(id(2));
        cache.slot(id(3));
        assert!(cache.known(id(1)).is_some_and(|slot| Arc::ptr_eq(&slot, &used)));
        assert!(cache.known(id(2)).is_none());
        assert!(cache.known(id(3)).is_some());
    }

    #[test]
    fn bytes_are_bounded_too() {
        let cache = Cache::new(100, 1_000 + 3 * OVERHEAD_BYTES);
        for n in 1..=3 {
            cache.slot(id(n));
            cache.weigh(id(n), 400);
        }
        assert!(cache.known(id(1)).is_none());
        assert!(cache.known(id(3)).is_some());
    }

    #[test]
    fn forgotten_tasks_do_not_pile_up_in_the_order() {
        let cache = Cache::new(4, 1_000);
        for n in 0..200 {
            cache.slot(id(n));
            cache.forget(id(n));
        }
        assert!(cache.lock().order.len() <= 9);
    }
}
