//! The edge from outside: every rule through its router, over a scripted task store and catalog behind the real seam.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod bindings;
mod card;
mod catalog;
mod console;
mod envelope;
mod files;
mod guard;
mod health;
mod limits;
mod listener;
mod operations;
mod prefix;
mod send;
mod signed;
mod store;
mod streams;
mod tenants;
mod tls;
mod traces;
mod v03;
mod world;
