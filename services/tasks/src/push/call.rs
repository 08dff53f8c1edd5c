//! One call to a webhook: what is sent, and what the answer means.
//!
//! A2A v1.0.1 §4.3.3: `POST` of a `StreamResponse` with exactly one member. The specification names no header for the
//! token; receivers look for one of two, so both are sent. Redirects are not followed: they would lead past the guard.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};

use weft_chassis::Outbound;
use weft_chassis::outbound::chain;

use super::guard::Guard;
use super::retry::retry_after;
use crate::Settings;
use crate::record::{Push, Secrets};

/// How long a connection may take to be made; `tasks.push_timeout_ms` bounds the whole.
const CONNECT: Duration = Duration::from_secs(5);
/// Idle connections kept for each host, and how long.
const IDLE_MAX: usize = 4;
const IDLE: Duration = Duration::from_secs(30);
/// How much of an answer is read, so that its connection can be used again; it is not looked at.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
const TOKEN_HEADERS: [&str; 2] = ["a2a-notification-token", "x-a2a-notification-token"];

/// The client of all webhooks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Caller {
    client: Client,
    guard: Guard,
    timeout: Duration,
}

/// What is to be sent.
pub(super) struct Call<'a> {
    pub(super) push: &'a Push,
    pub(super) secrets: &'a Secrets,
    /// `traceparent` and `tracestate`; empty: none.
    pub(super) trace: (&'a str, &'a str),
    /// A `StreamResponse` as ProtoJSON.
    pub(super) body: Vec<u8>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Delivered,
    /// Says why, and when the receiver wants to be asked again.
    Failed(String, Option<Duration>),
    /// The receiver wants nothing more, ever.
    Gone,
}

impl Outcome {
    /// For the metric.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Outcome::Delivered => "delivered",
            Outcome::Failed(..) => "failed",
            Outcome::Gone => "gone",
        }
    }
}

impl Caller {
    /// # Errors
    /// When the client cannot be made.
    pub(super) fn new(settings: &Settings, guard: Guard, outbound: &Outbound) -> Result<Caller, String> {
        let timeout = Duration::from_millis(u64::from(settings.push_timeout_ms));
        let client = outbound
            .guarded("webhooks", guard.clone())?
            .connect_timeout(CONNECT)
            .timeout(timeout)
            .pool_max_idle_per_host(IDLE_MAX)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(|error| format!("cannot make the client of webhooks: {}", chain(&error)))?;
        Ok(Caller { client, guard, timeout })
    }

    /// Calls once.
    pub(super) async fn call(&self, call: Call<'_>, now_ms: i64) -> Outcome {
        let failed = |why: &str| Outcome::Failed(why.to_owned(), None);
        let Ok(url) = Url::parse(&call.push.url) else { return failed("its address is no URL") };
        if !self.guard.takes_url(&url) {
            return failed("its address may not be called (tasks.push_allow)");
        }
        let Some(headers) = headers(&call) else { return failed("its credentials are no header value") };
        let sent = self.client.post(url).headers(headers).body(call.body).send().await;
        let mut response = match sent {
            Ok(response) => response,
            Err(error) if error.is_timeout() => {
                let most = self.timeout.as_millis();
                return failed(&format!("it did not answer within {most} ms (tasks.push_timeout_ms)"));
            }
            Err(error) => return failed(&format!("it cannot be reached: {}", chain(&error.without_url()))),
        };
        let status = response.status();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let asked = asked.and_then(|text| retry_after(text, now_ms));
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            read += chunk.len();
            if read > ANSWER_BYTES_MAX {
                break;
            }
        }
        judge(status, asked)
    }
}

fn judge(status: StatusCode, asked: Option<Duration>) -> Outcome {
    if status.is_success() {
        return Outcome::Delivered;
    }
    if status == StatusCode::GONE {
        return Outcome::Gone;
    }
    let rest = if status.is_redirection() { "; redirects are not followed" } else { "" };
    Outcome::Failed(format!("it answered HTTP status {}{rest}", status.as_u16()), asked)
}

/// `None` when one of them is no header value.
fn headers(call: &Call<'_>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/a2a+json"));
    if !call.push.scheme.is_empty() {
        let text = format!("{} {}", call.push.scheme, call.secrets.credentials);
        headers.insert(AUTHORIZATION, secret(text.trim_end())?);
    }
    if !call.secrets.token.is_empty() {
        for name in TOKEN_HEADERS {
            headers.insert(HeaderName::from_static(name), secret(&call.secrets.token)?);
        }
    }
    for (name, text) in [("traceparent", call.trace.0), ("tracestate", call.trace.1)] {
        if !text.is_empty() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(text).ok()?);
        }
    }
    Some(headers)
}

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_2xx_is_a_delivery_and_gone_is_for_ever() {
        let judged = |status| judge(StatusCode::from_u16(status).unwrap(), None);
        for status in [200, 202, 204, 299] {
            assert_eq!(judged(status), Outcome::Delivered, "{status}");
        }
        for status in [301, 302, 307, 400, 401, 404, 429, 500, 503] {
            let Outcome::Failed(why, _) = judged(status) else { panic!("{status}") };
            assert!(why.contains(&status.to_string()), "{why}");
        }
        assert_eq!(judged(410), Outcome::Gone);
    }
}
