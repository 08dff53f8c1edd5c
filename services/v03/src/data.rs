//! Data that is no object, which v0.3 cannot say: it travels in an object, marked in the metadata.

use weft_proto::wkt::{Kind, Struct, Value};

/// The mark, a member of the metadata; both official SDKs use it.
pub(crate) const MARK: &str = "data_part_compat";
/// The name under which the data lies in the object.
pub(crate) const INSIDE: &str = "value";

/// The object that carries `data`, and the metadata that says so.
pub(crate) fn wrapped(data: Value, metadata: Option<Struct>) -> (Struct, Option<Struct>) {
    match data.kind {
        Some(Kind::Struct(object)) => (object, metadata),
        _ => {
            let mut metadata = metadata.unwrap_or_default();
            metadata.fields.insert(MARK.to_owned(), true.into());
            (Struct::from_iter([(INSIDE, data)]), Some(metadata))
        }
    }
}

/// The data that an object carries, and the metadata that is left.
pub(crate) fn unwrapped(object: Struct, metadata: Option<Struct>) -> (Value, Option<Struct>) {
    let marked = metadata.as_ref().and_then(|m| m.get(MARK)).and_then(Value::as_bool) == Some(true);
    match (marked, object.get(INSIDE), metadata) {
        (true, Some(data), Some(mut metadata)) => {
            metadata.fields.remove(MARK);
            (data.clone(), Some(metadata).filter(|rest| !rest.fields.is_empty()))
        }
        (_, _, metadata) => (object.into(), metadata),
    }
}
