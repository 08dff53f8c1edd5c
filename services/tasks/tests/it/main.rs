//! The task store from outside: the contract of its backends, and the service through a peer.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests unwrap, and spawn what ends with them"
)]

mod concurrency;
mod contract;
mod crash;
mod deliveries;
mod leases;
mod lists;
mod messages;
mod outside;
mod pushes;
mod receiver;
mod sled;
mod streams;
mod submits;
mod world;
