//! The `google.protobuf` types that have a JSON form of their own: [`Timestamp`], [`Struct`], [`Value`], [`ListValue`].

mod timestamp;
mod value;

pub use timestamp::{Timestamp, TimestampError};
pub use value::{Kind, ListValue, Struct, Value, depth};
