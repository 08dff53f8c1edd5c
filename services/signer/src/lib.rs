//! The only holder of mesh keys: bytes to sign come in, signatures go out; keys never do. And the one who knows callers.
//!
//! | module | contents |
//! |---|---|
//! | `service` | [`Signer`]: the gRPC service, Sign, Verify and Jwks |
//! | [`access`] | who calls: credentials held against the access file and its identity providers |
//! | [`audit`] | the record of security events |
//! | [`secrets`] | [`Secrets`]: the operator's secrets, encrypted on disk |
//! | `seals` | seals of incoming calls, checked and counted |
//! | `wrap` | small secrets encrypted for others to keep |
//! | `keyring` | the keys, and where they lie on disk |
//! | `cards` | the keys that sign agent cards, and their rotation |
//! | `keyring::file` | private files: made with mode 0600, refused when others can read them |
//! | `private` | private files that are changed as a whole |
//! | `settings` | [`Settings`]: names, window and limits |
//! | `metrics` | how many seals were made, accepted and refused |
//!
//! The signer calls no other part of the mesh; outside, the identity providers of the access file for their keys.

pub mod access;
pub mod audit;
mod cards;
mod keyring;
mod metrics;
mod private;
mod seals;
pub mod secrets;
mod service;
mod settings;
mod wrap;

pub use keyring::KeyringFault;
pub use secrets::{SecretFault, Secrets};
pub use service::Signer;
pub use settings::Settings;

/// Why a signer cannot start. Names the file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// A key.
    #[error(transparent)]
    Keys(#[from] KeyringFault),
    /// The access file.
    #[error("{0}")]
    Access(String),
}
