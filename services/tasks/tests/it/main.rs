//! The task store from outside: the contract of its backends, and the service through a peer.

mod concurrency;
mod contract;
mod crash;
mod leases;
mod lists;
mod sled;
mod streams;
mod submits;
mod world;
