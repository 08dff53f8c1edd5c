//! Hosted nodes as the mesh sees them: over their routes, with sealed calls.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod agent;
mod fleet;
mod network;
mod peer;
mod scenario;
mod sources;
mod web;
mod world;
