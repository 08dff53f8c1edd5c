//! Rows of a JSON document.

use weft_proto::wkt::{Kind, Value};

use crate::failure::Failure;
use crate::rows::{Next, Sink};
use crate::wire;

/// Field of a row that is no object.
const VALUE: &str = "value";

/// Offers what is at `pointer`: each object of an array, or one object. An element that is no object is the field
/// `value` of its row.
pub(crate) fn rows(document: &[u8], pointer: &str, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let document = wire::value(document).map_err(|reason| {
        tracing::warn!(reason, "a source is not JSON");
        Failure::Unavailable("it is not the JSON that was expected".to_owned())
    })?;
    let found = at(&document, pointer).ok_or_else(|| {
        Failure::Unavailable("the document does not have the place that holds the rows".to_owned())
    })?;
    match &found.kind {
        Some(Kind::List(list)) => {
            for row in &list.values {
                if offer(row, sink)? == Next::Enough {
                    break;
                }
            }
        }
        Some(Kind::Struct(_)) => {
            offer(found, sink)?;
        }
        _ => return Err(Failure::Unavailable("the place that should hold rows holds none".to_owned())),
    }
    Ok(())
}

fn offer(row: &Value, sink: &mut Sink<'_>) -> Result<Next, Failure> {
    sink.offer(|name| {
        Ok(match &row.kind {
            Some(Kind::Struct(object)) => object.fields.get(name).cloned(),
            _ if name == VALUE => Some(row.clone()),
            _ => None,
        })
    })
}

/// RFC 6901.
fn at<'v>(document: &'v Value, pointer: &str) -> Option<&'v Value> {
    pointer.split('/').skip(1).try_fold(document, |value, token| match &value.kind {
        Some(Kind::Struct(object)) => object.fields.get(&token.replace("~1", "/").replace("~0", "~")),
        Some(Kind::List(list)) => list.values.get(token.parse::<usize>().ok()?),
        _ => None,
    })
}
