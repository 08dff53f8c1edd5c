//! The only holder of mesh keys: bytes to sign come in, signatures go out; keys never do.
//!
//! | module | contents |
//! |---|---|
//! | `service` | [`Signer`]: the gRPC service, Sign, Verify and Jwks |
//! | `wrap` | small secrets encrypted for others to keep |
//! | `keyring` | the keys, and where they lie on disk |
//! | `cards` | the keys that sign agent cards, and their rotation |
//! | `keyring::file` | private files: made with mode 0600, refused when others can read them |
//! | `settings` | [`Settings`]: names, window and limits |
//! | `metrics` | how many seals were made, accepted and refused |
//!
//! The signer calls nobody.

mod cards;
mod keyring;
mod metrics;
mod service;
mod settings;
mod wrap;

pub use keyring::KeyringFault;
pub use service::Signer;
pub use settings::Settings;
