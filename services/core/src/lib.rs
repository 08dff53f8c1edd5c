//! Every rule of the mesh, free of I/O, clock and randomness.
//!
//! | module | holds |
//! |---|---|
//! | [`address`] | which addresses are everybody's, and which others an operator allows |
//! | [`card`] | agent cards, projected from a catalog snapshot |
//! | [`fault`] | the closed list of ways to fail and the one table that gives each its code on every binding |
//! | [`gate`] | the drift gate: card, dispatch, console and nodes compared |
//! | [`manifest`] | declarations of nodes and of the mesh, read from text |
//! | [`artifact`] | artifacts folded from whole ones and chunks |
//! | [`list`] | listing tasks: filters, order, cursor |
//! | [`task`] | the task machine: turns, progress, cancel, folding |
//! | [`media`] | media types and when two of them meet |
//! | [`message`] | what a message must be before it is written down |
//! | [`owner`] | to whom a task belongs |
//! | [`scope`] | what a principal may do |
//! | [`route`] | which capability a message goes to |
//! | [`tenant`] | nodes as agents of their own |
//! | [`webhook`] | what a webhook must be before it is kept |

pub mod address;
pub mod artifact;
pub mod card;
pub mod content;
pub mod fault;
pub mod gate;
pub mod list;
pub mod manifest;
pub mod media;
pub mod message;
pub mod owner;
pub mod route;
pub mod scope;
pub mod task;
pub mod tenant;
mod value;
pub mod webhook;

pub use fault::{Fault, Kind, Violation};
pub use owner::Owner;
