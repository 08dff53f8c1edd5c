//! How messages are read: text into forms, in which every member may be missing, and forms into messages.

mod event;
mod form;
mod part;
mod request;

use base64::Engine;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use weft_core::Fault;
use weft_proto::a2a as v1;

use super::{Read, form as parsed, sealed::Sealed};
use crate::at::{At, quoted};
use crate::state;

const fn engine(alphabet: &Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

/// Base64 as it is written: the standard alphabet, padded.
pub(crate) const BASE64: GeneralPurpose = engine(&STANDARD);
const BASE64_URL: GeneralPurpose = engine(&URL_SAFE);

/// Reads base64 in either alphabet, padded or not.
fn bytes(text: &str, at: &At<'_>) -> Result<Vec<u8>, Fault> {
    let engine = if text.contains(['-', '_']) { &BASE64_URL } else { &BASE64 };
    engine.decode(text).map_err(|error| at.fault(format!("is not base64: {error}")))
}

/// Implements [`Read`] by a form and a function from the form to the message.
macro_rules! read {
    ($($message:ty, $form:ty, $convert:path;)*) => {$(
        impl Sealed for $message {}
        impl Read for $message {
            fn read(text: &str, whole: &str) -> Result<Self, Fault> {
                let at = At::root(whole);
                $convert(parsed::<$form>(text, &at)?, &at)
            }
        }
    )*};
}
use read;

read! {
    v1::Task, form::Task, task;
    v1::Message, form::Message, message;
}

/// Every member of a list.
fn each<F, T>(
    list: Option<Vec<F>>,
    at: &At<'_>,
    convert: impl Fn(F, &At<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let list = list.unwrap_or_default();
    list.into_iter().enumerate().map(|(index, form)| convert(form, &at.index(index))).collect()
}

/// Refuses a `kind` other than this one; none is as good.
fn kind(given: Option<&str>, expected: &str, at: &At<'_>) -> Result<(), Fault> {
    match given {
        Some(other) if other != expected => {
            Err(at.field("kind").fault(format!("is {}: must be \"{expected}\"", quoted(other))))
        }
        _ => Ok(()),
    }
}

fn task(form: form::Task, at: &At<'_>) -> Result<v1::Task, Fault> {
    kind(form.kind.as_deref(), "task", at)?;
    Ok(v1::Task {
        id: form.id.unwrap_or_default(),
        context_id: form.context_id.unwrap_or_default(),
        status: form.status.map(|form| status(form, &at.field("status"))).transpose()?,
        artifacts: each(form.artifacts, &at.field("artifacts"), artifact)?,
        history: each(form.history, &at.field("history"), message)?,
        metadata: form.metadata,
    })
}

fn status(form: form::TaskStatus, at: &At<'_>) -> Result<v1::TaskStatus, Fault> {
    let state = match form.state.as_deref() {
        None => v1::TaskState::Unspecified,
        Some(name) => state::named(name).ok_or_else(|| {
            at.field("state").fault(format!("is {}: must be a state like \"input-required\"", quoted(name)))
        })?,
    };
    Ok(v1::TaskStatus {
        state: state.into(),
        message: form.message.map(|form| message(form, &at.field("message"))).transpose()?,
        timestamp: form.timestamp,
    })
}

fn message(form: form::Message, at: &At<'_>) -> Result<v1::Message, Fault> {
    kind(form.kind.as_deref(), "message", at)?;
    let role = match form.role.as_deref() {
        None => v1::Role::Unspecified,
        Some(name) => state::role_named(name).ok_or_else(|| {
            at.field("role").fault(format!("is {}: must be \"user\" or \"agent\"", quoted(name)))
        })?,
    };
    Ok(v1::Message {
        message_id: form.message_id.unwrap_or_default(),
        context_id: form.context_id.unwrap_or_default(),
        task_id: form.task_id.unwrap_or_default(),
        role: role.into(),
        parts: each(form.parts, &at.field("parts"), part::part)?,
        metadata: form.metadata,
        extensions: form.extensions.unwrap_or_default(),
        reference_task_ids: form.reference_task_ids.unwrap_or_default(),
    })
}

fn artifact(form: form::Artifact, at: &At<'_>) -> Result<v1::Artifact, Fault> {
    Ok(v1::Artifact {
        artifact_id: form.artifact_id.unwrap_or_default(),
        name: form.name.unwrap_or_default(),
        description: form.description.unwrap_or_default(),
        parts: each(form.parts, &at.field("parts"), part::part)?,
        metadata: form.metadata,
        extensions: form.extensions.unwrap_or_default(),
    })
}
