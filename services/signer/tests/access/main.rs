//! Who calls: the service through its generated client, in process, as the edge reaches it.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod credentials;
mod issuer;
mod oidc;
mod policy;
mod world;
