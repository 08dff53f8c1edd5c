//! The only holder of mesh keys.
