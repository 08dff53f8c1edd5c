//! JSON values, put together by hand.

use weft_proto::wkt::{Kind, ListValue, Struct, Value};

pub(crate) fn text(text: impl Into<String>) -> Value {
    Value { kind: Some(Kind::String(text.into())) }
}

pub(crate) fn texts<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Value {
    list(items.into_iter().map(text))
}

pub(crate) fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value { kind: Some(Kind::List(ListValue { values: items.into_iter().collect() })) }
}

pub(crate) fn members<const N: usize>(members: [(&str, Value); N]) -> Struct {
    Struct { fields: members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value { kind: Some(Kind::Struct(members(fields))) }
}
