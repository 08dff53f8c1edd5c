//! The whole mesh, from outside: in this process in both of its forms, and as processes of the shipped binary.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on fails; it starts the binary it tests, spawns what ends with it, and says what it saw"
)]

mod chaos;
mod cli;
mod client;
mod conformance;
mod gate;
mod limits;
mod no_hands;
mod nodes;
mod one_or_many;
mod process;
mod remote;
mod restart;
mod seeds;
mod trace;
mod world;
