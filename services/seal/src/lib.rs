//! The one implementation of signing and verifying a hop.
