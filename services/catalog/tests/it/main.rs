//! The catalog as edge and bridge see it: over its service.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod folder;
mod health;
mod world;
