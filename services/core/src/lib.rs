//! Every rule of the mesh, free of I/O, clock and randomness.
//!
//! | module | holds |
//! |---|---|
//! | [`fault`] | the closed list of ways to fail and the one table that gives each its code on every binding |
//! | [`owner`] | to whom a task belongs |

pub mod fault;
pub mod owner;

pub use fault::{Fault, Kind, Violation};
pub use owner::Owner;
