//! v0.3 from outside: each shape by example, and what survives the way there and back.

mod any_input;
mod card;
mod json;
mod made;
mod requests;
mod there_and_back;
mod wire;
