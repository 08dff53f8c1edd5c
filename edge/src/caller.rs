//! What a call says about itself beside its body: the service parameters of A2A v1.0 §3.2.6, and for whom it runs.
//!
//! They are HTTP headers; gRPC metadata is the same thing under the same names.

mod owner;

use std::sync::Arc;

use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use weft_chassis::Env;
use weft_core::{Fault, Kind, Owner, message};
use weft_proto::a2a::AgentExtension;

use crate::a2a::Operation;
use crate::access::{Admitted, Standing, Who};
use owner::TASK_ACCESS_TOKEN;

/// Names the protocol version a caller speaks.
pub(crate) const A2A_VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// Lists the extensions a caller wants to use; in an answer, those that are used.
pub(crate) const A2A_EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// What v0.3 calls the same header.
pub(crate) const X_A2A_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");
/// Makes a message that creates a task safe to send again.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Resumes a stream after the event with this `id:`.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A version of the protocol. Only `Major.Minor` counts (A2A v1.0 §3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V03,
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// To whom the tasks belong that it creates and sees.
    pub(crate) owner: Owner,
    /// True for an authenticated principal: sending the same `messageId` again answers the same task.
    pub(crate) replay_by_message_id: bool,
    /// Who it is, and what that lets them do.
    pub(crate) who: Arc<Who>,
    /// The task access token that was made for this call.
    issued: Option<String>,
    /// Empty: none.
    pub(crate) idempotency_key: String,
    /// The last event it has seen of the stream it asks for.
    pub(crate) last_event: Option<u64>,
    /// URIs of the extensions it wants to use.
    extensions: Vec<String>,
}

/// What the headers of an answer say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Activated {
    /// The extensions in use, as a header lists them; may be empty.
    extensions: String,
    /// The task access token that was made for the call.
    issued: Option<String>,
}

// === impl Activated ===

impl Activated {
    /// The headers of the answer; extensions under the name that the caller used.
    pub(crate) fn headers(&self, asked: &HeaderMap) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let name = if asked.contains_key(&A2A_EXTENSIONS) { A2A_EXTENSIONS } else { X_A2A_EXTENSIONS };
        let extensions = Some(&self.extensions).filter(|uris| !uris.is_empty());
        let extensions = extensions.and_then(|uris| Some((name, HeaderValue::try_from(uris).ok()?)));
        let token = self.issued.as_ref().and_then(|token| HeaderValue::try_from(token).ok());
        extensions.into_iter().chain(token.map(|token| (TASK_ACCESS_TOKEN, token)))
    }
}

// === impl Version ===

impl Version {
    const fn name(self) -> &'static str {
        match self {
            Version::V1 => "1.0",
            Version::V03 => "0.3",
        }
    }

    /// The version that a caller says it speaks, in the header or, when that is silent, in the query. `None` when it
    /// says nothing: then method, path or package decide.
    ///
    /// # Errors
    /// `VersionNotSupported`, with the versions that are.
    pub(crate) fn said(
        headers: &HeaderMap,
        query: Option<&str>,
        spoken: &[Version],
    ) -> Result<Option<Version>, Fault> {
        let mut said = None;
        for value in headers.get_all(&A2A_VERSION) {
            let text = value.to_str().unwrap_or("?").trim();
            said = Version::read(text, spoken)?.or(said);
        }
        if said.is_some() {
            return Ok(said);
        }
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if name.eq_ignore_ascii_case(A2A_VERSION.as_str()) {
                said = Version::read(value.trim(), spoken)?.or(said);
            }
        }
        Ok(said)
    }

    fn read(text: &str, spoken: &[Version]) -> Result<Option<Version>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let version = spoken.iter().copied().find(|version| version.is(text));
        version.map(Some).ok_or_else(|| not_spoken(text, spoken))
    }

    /// Whether a text names it: `1.0`, or any patch version of it.
    fn is(self, text: &str) -> bool {
        let mut numbers = text.split('.');
        let (Some(major), Some(minor), patch, None) =
            (numbers.next(), numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        let digits = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        patch.is_none_or(digits) && self.name().split_once('.') == Some((major, minor))
    }
}

/// What a caller hears that speaks another version.
pub(crate) fn not_spoken(text: &str, spoken: &[Version]) -> Fault {
    let supported = spoken.iter().map(|version| version.name()).collect::<Vec<_>>().join(", ");
    let shown: String = text.chars().filter(char::is_ascii_graphic).take(40).collect();
    let message = format!("A2A version {shown} is not spoken here: supported are {supported}");
    Fault::new(Kind::VersionNotSupported, message).with("supportedVersions", supported)
}

/// What a caller hears that speaks a version where another one is spoken.
pub(crate) fn not_spoken_here(asked: Version, here: Version, spoken: &[Version]) -> Fault {
    if !spoken.contains(&here) {
        return not_spoken(here.name(), spoken);
    }
    let mut fault = not_spoken(asked.name(), spoken);
    fault.message = format!(
        "A2A version {} was asked for, but {} is spoken under this path: send A2A-Version: {}",
        asked.name(),
        here.name(),
        here.name()
    );
    fault
}

// === impl Caller ===

impl Caller {
    /// Reads the caller of a request that the gate has let through, and judges whether they may do this at all.
    ///
    /// # Errors
    /// `Denied` without the scope, `Unauthenticated` when an anonymous caller has no task access token, `Invalid` for a
    /// header that breaks its rule.
    pub(crate) fn of(
        env: &Env,
        headers: &HeaderMap,
        extensions: &Extensions,
        operation: Operation,
    ) -> Result<Caller, Fault> {
        let admitted = extensions.get::<Admitted>();
        let who = admitted.ok_or_else(|| Fault::internal("a call has come past the gate"))?.0.clone();
        Caller::as_who(who, env, headers, operation)
    }

    fn as_who(who: Arc<Who>, env: &Env, headers: &HeaderMap, operation: Operation) -> Result<Caller, Fault> {
        who.needs(operation.scope())?;
        let (owner, issued) = owner::of(&who, env, headers, operation)?;
        let idempotency_key = single(headers, &IDEMPOTENCY_KEY, "Idempotency-Key")?.map(str::to_owned);
        if let Some(key) = &idempotency_key {
            message::idempotency_key(key)?;
        }
        Ok(Caller {
            owner,
            replay_by_message_id: who.standing == Standing::Authenticated,
            who,
            issued,
            idempotency_key: idempotency_key.unwrap_or_default(),
            last_event: last_event(headers)?,
            extensions: extensions_of(headers)?,
        })
    }

    /// Holds what the caller activates against what the agent requires.
    ///
    /// # Errors
    /// `ExtensionSupportRequired`, naming what is missing.
    pub(crate) fn activates(&self, declared: &[AgentExtension]) -> Result<(), Fault> {
        let missing: Vec<_> = declared
            .iter()
            .filter(|extension| extension.required && !self.extensions.contains(&extension.uri))
            .map(|extension| extension.uri.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(", ");
        let text =
            format!("this agent requires extensions: name them in the header A2A-Extensions: {missing}");
        Err(Fault::new(Kind::ExtensionSupportRequired, text).with("required", missing))
    }

    /// Which of the agent's extensions are in use for this call.
    pub(crate) fn activated(&self, declared: &[AgentExtension]) -> Activated {
        let used = declared.iter().filter(|extension| self.extensions.contains(&extension.uri));
        let extensions = used.map(|extension| extension.uri.as_str()).collect::<Vec<_>>().join(", ");
        Activated { extensions, issued: self.issued.clone() }
    }

    /// The task access token that was made for this call and that its caller must be told.
    pub(crate) fn issued(&self) -> Option<&str> {
        self.issued.as_deref()
    }
}

/// Extension URIs, from any number of headers with any number of them each.
fn extensions_of(headers: &HeaderMap) -> Result<Vec<String>, Fault> {
    let mut found: Vec<String> = Vec::new();
    for value in headers.get_all(&A2A_EXTENSIONS).iter().chain(headers.get_all(&X_A2A_EXTENSIONS)) {
        let text = value.to_str().map_err(|_| Fault::invalid("A2A-Extensions", "must be visible ASCII"))?;
        found.extend(text.split(',').map(str::trim).filter(|uri| !uri.is_empty()).map(str::to_owned));
        if found.len() > message::LIST_MAX {
            let limit = format!("must list at most {} extensions", message::LIST_MAX);
            return Err(Fault::invalid("A2A-Extensions", limit));
        }
    }
    Ok(found)
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, Fault> {
    match single(headers, &LAST_EVENT_ID, "Last-Event-ID")? {
        None | Some("") => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|_| Fault::invalid("Last-Event-ID", "must be the id of an event, a whole number")),
    }
}

/// The value of a header that may come once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName, shown: &str) -> Result<Option<&'h str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::invalid(shown, "must be given once"));
    }
    let text = first.to_str().map_err(|_| Fault::invalid(shown, "must be visible ASCII"))?;
    Ok(Some(text.trim()))
}

#[cfg(test)]
mod tests;
