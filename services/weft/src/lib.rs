//! The mesh, composed.
//!
//! | module | holds |
//! |---|---|
//! | [`roles`] | the roles of a mesh, and who may call whom |
//! | [`settings`] | every section of the settings, merged |
//! | [`mesh`] | the composition root: which role is here, which is far, in what order they start and stop |
//! | [`cli`] | the command line |

pub mod cli;
pub mod mesh;
pub mod roles;
pub mod settings;
