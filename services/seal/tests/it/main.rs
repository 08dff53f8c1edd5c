//! Seals as a receiver meets them: good ones, old ones, tampered ones, replayed ones.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod cards;
mod properties;
mod refusals;
mod replay;
mod vectors;
mod world;
