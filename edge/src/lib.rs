//! The outside: HTTP, JSON-RPC, SSE, cards and the console.
