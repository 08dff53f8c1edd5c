//! The one HTTP stack under every binding: no redirects to elsewhere, bounds on everything.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, StatusCode, header};
use weft_chassis::Outbound;
use weft_chassis::outbound::chain;

use crate::credentials::origin;
use crate::error::Why;

/// What the rest of the crate sees of the HTTP library.
pub(crate) use reqwest::{Body, Error as HttpError, Response, Url};

/// Redirects within one origin that are followed.
const REDIRECTS_MAX: usize = 3;
/// Idle connections to one agent that are kept.
const IDLE_PER_HOST_MAX: usize = 32;

/// The connections.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    /// HTTP/1.1, or HTTP/2 where TLS agrees on it.
    any: reqwest::Client,
    /// HTTP/2 alone, for gRPC.
    two: reqwest::Client,
}

/// One exchange, before it is made.
#[derive(Clone)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Http {
    pub(crate) fn new(outbound: &Outbound, connect: Duration) -> Result<Http, Why> {
        let builder = || -> Result<reqwest::ClientBuilder, Why> {
            let builder = outbound.client("agents").map_err(Why::Unusable)?;
            Ok(builder
                .connect_timeout(connect)
                .tcp_nodelay(true)
                .tcp_keepalive(Duration::from_secs(15))
                .pool_idle_timeout(Duration::from_secs(30))
                .pool_max_idle_per_host(IDLE_PER_HOST_MAX))
        };
        // A channel that fell silent is found out; without this a partition is never noticed.
        let two = builder()?
            .http2_prior_knowledge()
            .http2_keep_alive_interval(Duration::from_secs(20))
            .http2_keep_alive_timeout(Duration::from_secs(10))
            .http2_keep_alive_while_idle(true);
        let unusable =
            |error: HttpError| Why::Unusable(format!("cannot make an HTTP client: {}", chain(&error)));
        Ok(Http { any: builder()?.build().map_err(unusable)?, two: two.build().map_err(unusable)? })
    }

    /// Makes one exchange over HTTP/2, the trailers kept; for gRPC.
    pub(crate) async fn exchange_two(
        &self,
        request: Request<Bytes>,
    ) -> Result<http::Response<Body>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        Ok(self.two.execute(request).await?.into())
    }

    /// Makes the exchange. A 307 or 308 within the same origin is followed, and for GET a 301, 302 and 303 too; any
    /// other redirect is an error.
    pub(crate) async fn exchange(&self, mut outgoing: Outgoing) -> Result<Response, Why> {
        for _ in 0..=REDIRECTS_MAX {
            let request = self
                .any
                .request(outgoing.method.clone(), outgoing.url.clone())
                .headers(outgoing.headers.clone())
                .body(outgoing.body.clone());
            let response = request.send().await.map_err(|error| why(&error))?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            outgoing.url = redirected(&outgoing, &response)?;
        }
        Err(Why::Redirected { status: 308, to: outgoing.url.to_string() })
    }
}

fn redirected(outgoing: &Outgoing, response: &Response) -> Result<Url, Why> {
    let status = response.status();
    let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
    let elsewhere = || Why::Redirected {
        status: status.as_u16(),
        to: location.map_or_else(|| "nowhere".to_owned(), str::to_owned),
    };
    let keeps_the_call = match status.as_u16() {
        307 | 308 => true,
        301..=303 => outgoing.method == Method::GET,
        _ => false,
    };
    let to = location.and_then(|location| outgoing.url.join(location).ok());
    to.filter(|to| keeps_the_call && origin(to) == origin(&outgoing.url)).ok_or_else(elsewhere)
}

/// The whole body, if it is within the bound.
pub(crate) async fn read(mut response: Response, what: &'static str, bytes_max: usize) -> Result<Bytes, Why> {
    let too_large = || Why::TooLarge { what, bytes_max };
    if response.content_length().is_some_and(|length| length > bytes_max as u64) {
        return Err(too_large());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| why(&error))? {
        if body.len() + chunk.len() > bytes_max {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// The media type of an answer, lower case, without its parameters; empty when it has none.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// True for JSON and for an answer that does not say what it is.
pub(crate) fn may_be_json(media_type: &str) -> bool {
    media_type.is_empty() || media_type == "application/json" || media_type.ends_with("+json")
}

/// What an HTTP error means for the call.
pub(crate) fn why(error: &HttpError) -> Why {
    if error.is_connect() {
        Why::Unreachable(chain(error))
    } else if error.is_timeout() {
        Why::TimedOut(chain(error))
    } else if error.is_builder() {
        Why::Unusable(format!("the call cannot be made: {}", chain(error)))
    } else {
        Why::Broken(chain(error))
    }
}
