//! The outside: HTTP, JSON-RPC, SSE, cards and the console.

mod settings;

pub use settings::Settings;
