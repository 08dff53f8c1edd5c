//! The task store from outside: the contract of its backends, and the service through a peer.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests unwrap, and spawn what ends with them"
)]

mod capacity;
mod concurrency;
mod contract;
mod crash;
mod deliveries;
mod leases;
mod lists;
mod messages;
mod outside;
mod owners;
mod phases;
mod pushes;
mod receiver;
mod scoping;
mod sled;
mod streams;
mod submits;
mod world;
