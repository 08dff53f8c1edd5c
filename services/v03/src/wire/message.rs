//! Messages, artifacts and their parts.

use weft_proto::a2a as v1;
use weft_proto::a2a::part::Content;
use weft_proto::a2a_v03 as v03;
use weft_proto::a2a_v03::{file_part, part};

use super::{Downgrade, Upgrade, down, up};
use crate::data;

impl Upgrade for v03::Message {
    type V1 = v1::Message;

    fn upgrade(self) -> v1::Message {
        v1::Message {
            message_id: self.message_id,
            context_id: self.context_id,
            task_id: self.task_id,
            // Same numbers.
            role: self.role,
            parts: up(self.content),
            metadata: self.metadata,
            extensions: self.extensions,
            reference_task_ids: Vec::new(),
        }
    }
}

impl Downgrade for v1::Message {
    type V03 = v03::Message;

    fn downgrade(self) -> v03::Message {
        v03::Message {
            message_id: self.message_id,
            context_id: self.context_id,
            task_id: self.task_id,
            role: self.role,
            content: down(self.parts),
            metadata: self.metadata,
            extensions: self.extensions,
        }
    }
}

impl Upgrade for v03::Artifact {
    type V1 = v1::Artifact;

    fn upgrade(self) -> v1::Artifact {
        v1::Artifact {
            artifact_id: self.artifact_id,
            name: self.name,
            description: self.description,
            parts: up(self.parts),
            metadata: self.metadata,
            extensions: self.extensions,
        }
    }
}

impl Downgrade for v1::Artifact {
    type V03 = v03::Artifact;

    fn downgrade(self) -> v03::Artifact {
        v03::Artifact {
            artifact_id: self.artifact_id,
            name: self.name,
            description: self.description,
            parts: down(self.parts),
            metadata: self.metadata,
            extensions: self.extensions,
        }
    }
}

impl Upgrade for v03::Part {
    type V1 = v1::Part;

    fn upgrade(self) -> v1::Part {
        let (mut metadata, mut filename, mut media_type) = (self.metadata, String::new(), String::new());
        let content = match self.part {
            Some(part::Part::Text(text)) => Some(Content::Text(text)),
            Some(part::Part::File(file)) => {
                (filename, media_type) = (file.name, file.mime_type);
                file.file.map(|file| match file {
                    file_part::File::FileWithUri(uri) => Content::Url(uri),
                    file_part::File::FileWithBytes(bytes) => Content::Raw(bytes),
                })
            }
            Some(part::Part::Data(data)) => {
                let (value, rest) = data::unwrapped(data.data.unwrap_or_default(), metadata);
                metadata = rest;
                Some(Content::Data(value))
            }
            None => None,
        };
        v1::Part { content, metadata, filename, media_type }
    }
}

impl Downgrade for v1::Part {
    type V03 = v03::Part;

    fn downgrade(self) -> v03::Part {
        let mut metadata = self.metadata;
        let file = |file| v03::FilePart { file: Some(file), mime_type: self.media_type, name: self.filename };
        let part = self.content.map(|content| match content {
            Content::Text(text) => part::Part::Text(text),
            Content::Raw(bytes) => part::Part::File(file(file_part::File::FileWithBytes(bytes))),
            Content::Url(url) => part::Part::File(file(file_part::File::FileWithUri(url))),
            Content::Data(value) => {
                let (object, marked) = data::wrapped(value, metadata.take());
                metadata = marked;
                part::Part::Data(v03::DataPart { data: Some(object) })
            }
        });
        v03::Part { part, metadata }
    }
}
