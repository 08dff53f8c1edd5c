//! Any JSON value, as a message.

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
