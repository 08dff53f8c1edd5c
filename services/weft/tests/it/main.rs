//! The whole mesh, from outside: in this process in both of its forms, and as processes of the shipped binary.

mod client;
mod one_or_many;
mod world;
