//! What proves who calls, and to which origins it may go.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::Why;
use crate::http::Url;

type Provider = dyn Fn(String) -> BoxFuture<'static, Result<HeaderMap, String>> + Send + Sync;

/// Headers that are added to each call, asked for anew each time so that a token can be renewed.
#[derive(Clone)]
pub struct Credentials(Arc<Provider>);

/// Origins that credentials may go to.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    allowed: BTreeSet<String>,
}

// === impl Credentials ===

impl Credentials {
    /// `Authorization: Bearer TOKEN`.
    ///
    /// # Errors
    /// When the token holds characters that a header cannot carry.
    pub fn bearer(token: &str) -> Result<Credentials, Why> {
        Credentials::header(http::header::AUTHORIZATION, &format!("Bearer {token}"))
    }

    /// One header, such as an API key's.
    ///
    /// # Errors
    /// When the value holds characters that a header cannot carry.
    pub fn header(name: HeaderName, value: &str) -> Result<Credentials, Why> {
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            Why::Unusable("the credentials hold characters that a header cannot carry".to_owned())
        })?;
        value.set_sensitive(true);
        let headers = HeaderMap::from_iter([(name, value)]);
        Ok(Credentials::from_fn(move |_| {
            let headers = headers.clone();
            Box::pin(async move { Ok(headers) })
        }))
    }

    /// Whatever `provide` answers when it is given the origin that is about to be called.
    pub fn from_fn<F>(provide: F) -> Credentials
    where
        F: Fn(String) -> BoxFuture<'static, Result<HeaderMap, String>> + Send + Sync + 'static,
    {
        Credentials(Arc::new(provide))
    }

    pub(crate) async fn headers(&self, url: &Url) -> Result<HeaderMap, Why> {
        (self.0)(origin(url)).await.map_err(|error| Why::Unusable(format!("cannot get credentials: {error}")))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(…)")
    }
}

// === impl Origins ===

impl Origins {
    /// Allows `scheme://host:port`, besides the origin of the card, which always is.
    ///
    /// # Errors
    /// When it is no absolute http or https URL.
    pub fn allow(mut self, origin_of: &str) -> Result<Origins, Why> {
        let url = web(origin_of)
            .ok_or_else(|| Why::Unusable(format!("{origin_of} is no origin: write scheme://host:port")))?;
        self.allowed.insert(origin(&url));
        Ok(self)
    }

    /// True when credentials for the agent whose card lies at `card` may go to `target`.
    pub(crate) fn allow_credentials(&self, card: &Url, target: &Url) -> bool {
        let target = origin(target);
        origin(card) == target || self.allowed.contains(&target)
    }
}

/// An absolute http or https address.
pub(crate) fn web(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// `scheme://host:port`, the port left out where it is the scheme's own.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stay_at_the_cards_origin_unless_another_is_allowed() {
        let url = |text: &str| Url::parse(text).unwrap();
        let card = url("https://a.example/x/card.json");
        let strict = Origins::default();
        assert!(strict.allow_credentials(&card, &url("https://a.example:443/rpc")));
        for other in
            ["http://a.example/rpc", "https://a.example:8443/", "https://b.example/", "https://a.example.b/"]
        {
            assert!(!strict.allow_credentials(&card, &url(other)), "{other}");
        }
        let wider = strict.allow("https://a.example:8443").unwrap();
        assert!(wider.allow_credentials(&card, &url("https://a.example:8443/grpc")));
        assert!(!wider.allow_credentials(&card, &url("https://a.example:8444/grpc")));
        assert!(Origins::default().allow("a.example:8443/x y").is_err());
    }

    #[tokio::test]
    async fn what_credentials_are_is_not_printed() {
        let bearer = Credentials::bearer("s3cret").unwrap();
        let headers = bearer.headers(&Url::parse("http://h/").unwrap()).await.unwrap();
        assert_eq!(headers["authorization"], "Bearer s3cret");
        assert!(!format!("{bearer:?} {headers:?}").contains("s3cret"));
        assert!(Credentials::bearer("a\nb").is_err());
    }
}
