//! Spans in, kept in a bounded store, questions answered.
