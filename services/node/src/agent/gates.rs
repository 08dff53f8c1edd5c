//! One at a time for each turn: two calls with one key never send the same message side by side.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// The gates that somebody holds or waits for.
#[derive(Debug, Default)]
pub(crate) struct Gates(Mutex<HashMap<String, Weak<Gate<()>>>>);

impl Gates {
    /// Waits until the turn is free; held until it is dropped.
    pub(crate) async fn enter(&self, key: &str) -> OwnedMutexGuard<()> {
        self.gate(key).lock_owned().await
    }

    fn gate(&self, key: &str) -> Arc<Gate<()>> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(key).and_then(Weak::upgrade) {
            return gate;
        }
        gates.retain(|_, gate| gate.strong_count() > 0);
        let gate = Arc::new(Gate::new(()));
        gates.insert(key.to_owned(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn the_same_turn_waits_and_another_does_not() {
        let gates = Gates::default();
        let held = gates.enter("a").await;
        assert!(gates.enter("a").now_or_never().is_none());
        assert!(gates.enter("b").now_or_never().is_some());
        drop(held);
        assert!(gates.enter("a").now_or_never().is_some());
        gates.enter("c").await;
        assert_eq!(gates.0.lock().unwrap().len(), 1, "what nobody holds is forgotten");
    }
}
