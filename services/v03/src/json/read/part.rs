//! One part of a message or artifact.

use weft_core::Fault;
use weft_proto::a2a as v1;
use weft_proto::a2a::part::Content;
use weft_proto::wkt::Kind;

use super::{bytes, form};
use crate::at::{At, quoted};
use crate::data;

pub(super) fn part(form: form::Part, at: &At<'_>) -> Result<v1::Part, Fault> {
    let form::Part { kind, text, file, data, mut metadata, raw, url, filename, media_type } = form;
    let (mut filename, mut media_type) = (filename.unwrap_or_default(), media_type.unwrap_or_default());
    let kind = match kind {
        Some(kind) => kind,
        None => {
            // A null beside something else is one of those that some writers put in place of every absent member.
            let data = data.as_ref().map(|value| !value.is_null());
            let given = [
                ("text", text.is_some()),
                ("file", file.is_some()),
                ("raw", raw.is_some()),
                ("url", url.is_some()),
                ("data", data == Some(true)),
            ];
            let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
            match (given.next(), given.next()) {
                (Some(one), Some(other)) => {
                    return Err(at.fault(format!("{one} and {other} exclude each other")));
                }
                (Some(one), None) => one.to_owned(),
                (None, _) if data.is_some() => "data".to_owned(),
                (None, _) => return Err(at.fault("must hold text, file or data")),
            }
        }
    };
    let content = match kind.as_str() {
        "text" => Content::Text(text.ok_or_else(|| missing(at, "text"))?),
        "file" => {
            let file = file.ok_or_else(|| missing(at, "file"))?;
            filename = file.name.clone().unwrap_or(filename);
            media_type = file.mime_type.clone().unwrap_or(media_type);
            content(file, &at.field("file"))?
        }
        "data" => {
            let value = data.ok_or_else(|| missing(at, "data"))?;
            match value.kind {
                Some(Kind::Struct(object)) => {
                    let (value, rest) = data::unwrapped(object, metadata);
                    metadata = rest;
                    Content::Data(value)
                }
                // v1.0 takes any value, and so do some servers of v0.3.
                _ => Content::Data(value),
            }
        }
        "raw" => Content::Raw(bytes(&raw.ok_or_else(|| missing(at, "raw"))?, &at.field("raw"))?),
        "url" => Content::Url(url.ok_or_else(|| missing(at, "url"))?),
        other => {
            let text = format!("is {}: must be \"text\", \"file\" or \"data\"", quoted(other));
            return Err(at.field("kind").fault(text));
        }
    };
    Ok(v1::Part { content: Some(content), metadata, filename, media_type })
}

fn missing(at: &At<'_>, name: &str) -> Fault {
    at.field(name).fault("is missing, and kind says it is there")
}

fn content(file: form::File, at: &At<'_>) -> Result<Content, Fault> {
    match (file.bytes, file.uri) {
        (Some(_), Some(_)) => Err(at.fault("bytes and uri exclude each other")),
        (Some(text), None) => Ok(Content::Raw(bytes(&text, &at.field("bytes"))?)),
        (None, Some(uri)) => Ok(Content::Url(uri)),
        (None, None) => Err(at.fault("must hold bytes or uri")),
    }
}
