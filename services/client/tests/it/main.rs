//! The client against agents that behave well, badly, and not at all.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod cards;
mod grpc;
mod jsonrpc;
mod old;
mod rest;
mod signed;
mod streams;
mod waits;
mod world;
