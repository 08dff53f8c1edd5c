//! Which turn of its task a message is, as far as a bounded memory knows.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Tasks that are remembered; the oldest is forgotten first and begins at 1 again.
const TASKS_MAX: usize = 10_000;

/// Counts turns by task. A try of the same work, which has the same key, is no new turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    tasks: HashMap<String, (String, u32)>,
    order: VecDeque<String>,
}

impl Turns {
    /// The turn that `key` begins or goes on with, from 1. Without a task it is always 1.
    pub(crate) fn count(&self, task_id: &str, key: &str) -> u32 {
        if task_id.is_empty() {
            return 1;
        }
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((latest, turn)) = memory.tasks.get_mut(task_id) {
            if latest != key {
                key.clone_into(latest);
                *turn += 1;
            }
            return *turn;
        }
        if memory.order.len() >= TASKS_MAX
            && let Some(oldest) = memory.order.pop_front()
        {
            memory.tasks.remove(&oldest);
        }
        memory.order.push_back(task_id.to_owned());
        memory.tasks.insert(task_id.to_owned(), (key.to_owned(), 1));
        1
    }
}
