//! The published language, from outside.

mod any_input;
mod numbers;
mod official;
mod oracle;
mod required;
mod rules;
