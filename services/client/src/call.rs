//! What goes with one call, and what comes with its answer.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::binding::Version;
use crate::error::{Trail, Why};

/// Key under which a repeat gives the same task.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Token that gives access to one task.
pub(crate) const TASK_ACCESS_TOKEN: HeaderName = HeaderName::from_static("task-access-token");
/// URIs of the extensions that a call, or an answer, makes use of.
pub(crate) const A2A_EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// The same under the name of version 0.3.
pub(crate) const X_A2A_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");
/// The version of the protocol that is spoken.
pub(crate) const A2A_VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// The last event that was seen of a stream.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What goes with one call besides the request.
#[derive(Default, Clone)]
pub struct Call {
    /// Key under which a repeat gives the same task, never a second run; 1 to 256 visible characters.
    pub idempotency_key: Option<String>,
    /// Access to a task of a caller who has no credentials.
    pub access_token: Option<String>,
    /// URIs of the extensions that the call makes use of.
    pub extensions: Vec<String>,
    /// Further headers, or gRPC metadata; `traceparent`, for example.
    pub headers: HeaderMap,
    /// Until the answer is there, or the stream begins; unset: [`Limits::answer`](crate::Limits::answer).
    pub within: Option<Duration>,
}

/// What an agent answered.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The answer proper.
    pub body: T,
    /// Access to the task, for a caller without credentials.
    pub access_token: Option<String>,
    /// Extensions that the agent says it activated.
    pub extensions: Vec<String>,
}

// === impl Call ===

impl Call {
    /// The headers of this call, without credentials.
    pub(crate) fn headers(&self, version: Version) -> Result<HeaderMap, Why> {
        let mut headers = self.headers.clone();
        headers.insert(A2A_VERSION, HeaderValue::from_static(version.as_str()));
        if !self.extensions.is_empty() {
            let uris = value("an extension URI", &self.extensions.join(","))?;
            if version == Version::V03 {
                headers.insert(X_A2A_EXTENSIONS, uris.clone());
            }
            headers.insert(A2A_EXTENSIONS, uris);
        }
        if let Some(key) = &self.idempotency_key {
            headers.insert(IDEMPOTENCY_KEY, value("the idempotency key", key)?);
        }
        if let Some(token) = &self.access_token {
            let mut token = value("the access token", token)?;
            token.set_sensitive(true);
            headers.insert(TASK_ACCESS_TOKEN, token);
        }
        Ok(headers)
    }

    pub(crate) fn trail(&self) -> Trail {
        Trail {
            task_id: None,
            access_token: self.access_token.clone(),
            idempotency_key: self.idempotency_key.clone(),
        }
    }
}

fn value(what: &str, text: &str) -> Result<HeaderValue, Why> {
    HeaderValue::from_str(text)
        .map_err(|_| Why::Unusable(format!("{what} holds characters that a header cannot carry")))
}

// === impl Answer ===

impl<T> Answer<T> {
    pub(crate) fn new(body: T, headers: &HeaderMap) -> Answer<T> {
        Answer { body, access_token: access_token(headers), extensions: extensions(headers) }
    }
}

/// The access token that an answer brought.
pub(crate) fn access_token(headers: &HeaderMap) -> Option<String> {
    headers.get(TASK_ACCESS_TOKEN).and_then(|token| token.to_str().ok()).map(str::to_owned)
}

fn extensions(headers: &HeaderMap) -> Vec<String> {
    let lists = headers.get_all(A2A_EXTENSIONS).into_iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|uri| !uri.is_empty())
        .map(str::to_owned)
        .collect()
}
