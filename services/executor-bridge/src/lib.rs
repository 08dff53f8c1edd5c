//! The only way out to nodes: claims work and runs it.
