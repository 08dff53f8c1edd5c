//! The ledger: the only writer of task state.
