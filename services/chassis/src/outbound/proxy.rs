//! The proxy of `outbound.proxy`.

use std::fmt;

use reqwest::header::HeaderValue;
use reqwest::{NoProxy, Url};

/// This machine: never reached through a proxy.
const HERE: &str = "localhost,127.0.0.0/8,::1";

/// Where it is, what it asks for, and who is called without it.
pub(super) struct Proxy {
    url: Url,
    /// `user`, `password`.
    credentials: Option<(String, String)>,
    except: String,
}

// === impl Proxy ===

impl Proxy {
    /// Nothing when `url` is empty.
    pub(super) fn open(url: &str, credentials: &str, except: &[String]) -> Result<Option<Proxy>, String> {
        if url.is_empty() {
            let unused =
                [("proxy_credentials_file", !credentials.is_empty()), ("no_proxy", !except.is_empty())];
            return match unused.iter().find(|(_, given)| *given) {
                Some((key, _)) => {
                    Err(format!("outbound.{key} is set, but outbound.proxy is not: set both or none"))
                }
                None => Ok(None),
            };
        }
        // Said without the value: it may hold a password.
        if url.contains('@') {
            return Err(
                "outbound.proxy holds a user or password: put user:password into a file that only the mesh \
                        can read, and name it in outbound.proxy_credentials_file"
                    .to_owned(),
            );
        }
        let plain = |url: &Url| {
            matches!(url.scheme(), "http" | "https")
                && url.has_host()
                && url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
        };
        let url = Url::parse(url).ok().filter(plain).ok_or_else(|| {
            format!(
                "outbound.proxy is {url}: must be like http://proxy.example:3128 or https://proxy.example:443"
            )
        })?;
        for entry in except {
            if entry.contains("://") || entry.contains(char::is_whitespace) {
                return Err(format!(
                    "outbound.no_proxy holds {entry}: must be a host, a domain, an address or a range like 10.0.0.0/8"
                ));
            }
        }
        let credentials = match credentials {
            "" => None,
            file => Some(read(file).map_err(|e| format!("outbound.proxy_credentials_file {file}: {e}"))?),
        };
        Ok(Some(Proxy { url, credentials, except: format!("{HERE},{}", except.join(",")) }))
    }

    /// Its host, as a resolver sees it.
    pub(super) fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }

    pub(super) fn made(&self) -> Result<reqwest::Proxy, String> {
        let proxy = reqwest::Proxy::all(self.url.clone())
            .map_err(|error| format!("outbound.proxy cannot be used: {}", super::chain(&error)))?;
        let proxy = proxy.no_proxy(NoProxy::from_string(&self.except));
        Ok(match &self.credentials {
            Some((user, password)) => proxy.basic_auth(user, password),
            None => proxy,
        })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// `user:password`, a line end after it left out.
fn read(file: &str) -> Result<(String, String), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("cannot be read: {e}"))?;
    let line = text.trim_end_matches(['\r', '\n']);
    let (user, password) = line.split_once(':').ok_or("must hold user:password on one line")?;
    if user.is_empty() || HeaderValue::from_str(line).is_err() {
        return Err("must hold user:password on one line".to_owned());
    }
    Ok((user.to_owned(), password.to_owned()))
}
