//! To and from Rust's and serde_json's values.

use serde::Deserialize;

use super::{Kind, ListValue, Struct, Value};
use crate::json::JsonFault;

impl From<Kind> for Value {
    fn from(kind: Kind) -> Value {
        Value { kind: Some(kind) }
    }
}

macro_rules! from {
    ($($source:ty => |$name:ident| $kind:expr;)*) => {$(
        impl From<$source> for Value {
            fn from($name: $source) -> Value {
                $kind.into()
            }
        }
    )*};
}

from! {
    &str => |text| Kind::String(text.to_owned());
    String => |text| Kind::String(text);
    bool => |flag| Kind::Bool(flag);
    i32 => |number| Kind::Number(number.into());
    u32 => |number| Kind::Number(number.into());
    Struct => |object| Kind::Struct(object);
    ListValue => |list| Kind::List(list);
    Vec<Value> => |values| Kind::List(ListValue { values });
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Struct {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Struct {
        Struct { fields: members.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

impl<V: Into<Value>> FromIterator<V> for ListValue {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> ListValue {
        ListValue { values: values.into_iter().map(Into::into).collect() }
    }
}

impl Value {
    /// JSON null.
    pub fn null() -> Value {
        Kind::Null(0).into()
    }

    /// True for null, also one without a kind.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, None | Some(Kind::Null(_)))
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Some(Kind::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind {
            Some(Kind::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The truth, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Some(Kind::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn as_struct(&self) -> Option<&Struct> {
        match &self.kind {
            Some(Kind::Struct(object)) => Some(object),
            _ => None,
        }
    }

    /// The elements, if it is an array.
    pub fn as_list(&self) -> Option<&[Value]> {
        match &self.kind {
            Some(Kind::List(list)) => Some(&list.values),
            _ => None,
        }
    }
}

impl Struct {
    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }
}

macro_rules! through_json {
    ($($message:ty),*) => {$(
        impl TryFrom<serde_json::Value> for $message {
            type Error = JsonFault;

            /// Refuses whole numbers that a double cannot hold and nesting beyond
            /// [`MAX_JSON_DEPTH`](crate::json::MAX_JSON_DEPTH).
            fn try_from(json: serde_json::Value) -> Result<$message, JsonFault> {
                <$message>::deserialize(json).map_err(|error| JsonFault::new(String::new(), error.to_string()))
            }
        }

        impl TryFrom<&$message> for serde_json::Value {
            type Error = JsonFault;

            /// Refuses numbers that are not finite.
            fn try_from(message: &$message) -> Result<serde_json::Value, JsonFault> {
                serde_json::to_value(message).map_err(|error| JsonFault::new(String::new(), error.to_string()))
            }
        }
    )*};
}

through_json!(Value, Struct, ListValue);
