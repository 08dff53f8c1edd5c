//! The one implementation of signing and verifying a hop, and a card: pure functions over the call, the key and the time.
//!
//! No I/O, no clock, no randomness: time and nonce bytes are arguments, keys are given.
//!
//! | module | contents |
//! |---|---|
//! | `call` | [`seal()`]: a call and a key become headers |
//! | `open` | [`Verifier::open`]: headers and a body become an authenticated caller, or one [`SealFault`] |
//! | `trust` | [`Trust`]: whose keys are accepted |
//! | `nonces` | [`Nonces`]: each seal is good once |
//! | `window` | [`Window`]: and only for a while |
//! | `mode` | [`Mode`]: the strongest key that both know is required |
//! | `key` | [`Key`], [`CheckKey`], [`PublicKey`], [`Secret`]: forms in files and as JWK |
//! | `target` | [`target::canonical`]: one spelling of an address |
//! | [`card`] | signatures of agent cards |
//! | `base`, `fields` | the signed bytes; strict readers of structured fields |
//!
//! # The profile
//!
//! RFC 9421 HTTP Message Signatures with an RFC 9530 `content-digest`, narrowed so that there is one way to write
//! each thing. Other languages can use their own libraries; `vectors/` holds examples to test them with.
//!
//! - One signature, label `weft`. Parameters, all required: `created` (Unix seconds), `nonce` (16 to 64 characters),
//!   `keyid`, `alg` (`ed25519` or `hmac-sha256`, and the one of the named key), `tag="weft-hop-v1"`; no others.
//! - Always covered: `@method`, `@target-uri`, `content-digest` (one `sha-256`; of no bytes when there is no
//!   body), `weft-audience` (id of the receiving node), `weft-scope` (what the call may do).
//! - Covered when present: `traceparent`, `tracestate` and every `weft-*` header. Other headers may be covered.
//! - Each covered header is there once, in printable ASCII without spaces at its ends.
//! - Key id of an Ed25519 key: the RFC 7638 thumbprint. Of a secret: the name both sides gave it.

mod base;
mod call;
pub mod card;
mod fault;
mod fields;
pub mod header;
mod key;
mod mode;
mod nonces;
mod open;
pub mod target;
mod trust;
mod window;

pub use call::{Call, digest, seal};
pub use fault::{CallFault, SealFault};
pub use key::{CheckKey, Key, KeyFault, PublicKey, Secret};
pub use mode::{Mode, UnknownMode, refuse_downgrade, strongest_common};
pub use nonces::Nonces;
pub use open::{Body, IncomingCall, Opened, Verifier};
pub use trust::Trust;
pub use window::Window;
