//! Any JSON value, as a message.

mod convert;
mod json;

use std::collections::BTreeMap;

/// A JSON object, as `google.protobuf.Struct`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Struct {
    /// Members, ordered by name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub fields: BTreeMap<String, Value>,
}

/// A JSON array, as `google.protobuf.ListValue`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ListValue {
    /// Elements in order.
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
}

/// A JSON value, as `google.protobuf.Value`; without a `kind` it reads as null.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    /// What it is.
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6")]
    pub kind: Option<Kind>,
}

/// The kinds of JSON value.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// `null`; the number is always 0.
    #[prost(int32, tag = "1")]
    Null(i32),
    /// A number; NaN and infinities have no JSON form.
    #[prost(double, tag = "2")]
    Number(f64),
    /// A string.
    #[prost(string, tag = "3")]
    String(String),
    /// `true` or `false`.
    #[prost(bool, tag = "4")]
    Bool(bool),
    /// An object.
    #[prost(message, tag = "5")]
    Struct(Struct),
    /// An array.
    #[prost(message, tag = "6")]
    List(ListValue),
}

macro_rules! name {
    ($($message:ident),*) => {$(
        impl prost::Name for $message {
            const NAME: &'static str = stringify!($message);
            const PACKAGE: &'static str = "google.protobuf";
        }
    )*};
}

name!(Struct, ListValue, Value);

/// How deep objects and arrays nest: 0 for a scalar, 1 for `{}`. See [`MAX_JSON_DEPTH`](crate::json::MAX_JSON_DEPTH).
pub fn depth(value: &Value) -> usize {
    match &value.kind {
        Some(Kind::Struct(object)) => object.depth(),
        Some(Kind::List(list)) => 1 + list.values.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl Struct {
    /// As [`depth`] of the object as a value, so at least 1.
    pub fn depth(&self) -> usize {
        1 + self.fields.values().map(depth).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
