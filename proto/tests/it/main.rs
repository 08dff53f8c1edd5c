//! The published language, from outside.

mod any_input;
mod numbers;
mod official;
mod official_v03;
mod oracle;
mod required;
mod rules;
