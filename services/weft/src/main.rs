//! The mesh, as one binary.

fn main() {}
