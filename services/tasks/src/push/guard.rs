//! The guard: a webhook may be called at public addresses and at those that the operator allows (`tasks.push_allow`).
//!
//! The address that is connected to is the one that was judged: names are resolved here for each connection, and only
//! addresses that may be called are handed on. What the URL said when it was set decides nothing later.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use weft_core::Fault;
use weft_core::address::Allowed;

use super::Names;

/// How long a name may take to be resolved while its webhook is set; one that takes longer counts as unknown.
const RESOLVE: Duration = Duration::from_secs(3);

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Guard {
    allowed: Arc<Allowed>,
    names: Arc<dyn Names>,
}

/// What a host is, once the URL parser has read every way to write an address.
enum Host {
    Address(IpAddr),
    Name(String),
}

impl Guard {
    pub(crate) fn new(allowed: Allowed, names: Arc<dyn Names>) -> Guard {
        Guard { allowed: Arc::new(allowed), names }
    }

    /// Judges the URL of a webhook that is to be set. A name that is not known now is taken: the address that it has
    /// when it is called decides.
    ///
    /// # Errors
    /// `Invalid` on `field`.
    pub(crate) async fn admit(&self, url: &str, field: &str) -> Result<(), Fault> {
        let refused = |text: &str| Fault::invalid(field, text);
        let url = Url::parse(url)
            .map_err(|error| refused(&format!("must be an absolute http or https URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("must not hold a user or password: use authentication"));
        }
        let blocked = "is not a public address and not in tasks.push_allow: name one that is, or have the operator \
                       allow it";
        match host(&url) {
            None => Err(refused("must name a host")),
            Some(Host::Address(address)) if self.takes(&address.to_string(), address) => Ok(()),
            Some(Host::Address(_)) => Err(refused(blocked)),
            Some(Host::Name(name)) => {
                let known = tokio::time::timeout(RESOLVE, self.resolve(&name)).await;
                match known {
                    Ok(Ok(addresses)) if addresses.is_empty() => Err(refused(blocked)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Judges a URL whose host is an address, before each call: such a host is never resolved.
    pub(crate) fn takes_url(&self, url: &Url) -> bool {
        match host(url) {
            Some(Host::Address(address)) => self.takes(&address.to_string(), address),
            Some(Host::Name(_)) => true,
            None => false,
        }
    }

    /// The addresses of a name that may be called, each once; none of them may be, when it is empty.
    async fn resolve(&self, name: &str) -> std::io::Result<Vec<IpAddr>> {
        let mut addresses = match self.names.addresses(name).await {
            Err(_) if is_localhost(name) => Vec::new(),
            found => found?,
        };
        if is_localhost(name) {
            // RFC 6761: loopback, whatever the machine's list says. IPv4 too: many receivers listen there only.
            addresses.extend([IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])]);
        }
        let mut taken = Vec::new();
        for address in addresses {
            if self.takes(name, address) && !taken.contains(&address) {
                taken.push(address);
            }
        }
        Ok(taken)
    }

    fn takes(&self, name: &str, address: IpAddr) -> bool {
        self.allowed.takes(name, address)
    }
}

fn host(url: &Url) -> Option<Host> {
    let text = url.host_str()?;
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    // The parser has turned decimal, octal, hexadecimal and short forms into dotted ones.
    match bare.parse() {
        Ok(address) => Some(Host::Address(address)),
        Err(_) => (!text.is_empty()).then(|| Host::Name(text.to_owned())),
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let taken = Guard::resolve(&guard, name.as_str()).await?;
            if taken.is_empty() {
                return Err("the name has no address that may be called (tasks.push_allow)".into());
            }
            let addresses: Addrs = Box::new(taken.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Whatever this machine says.
pub(crate) struct SystemNames;

impl Names for SystemNames {
    fn addresses(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows a few names; any other is unknown.
    struct Few;

    impl Names for Few {
        fn addresses(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
            let known: Option<&[&str]> = match host {
                "public.test" => Some(&["93.184.216.34"]),
                "inside.test" => Some(&["127.0.0.1"]),
                "both.test" => Some(&["10.0.0.1", "93.184.216.34", "93.184.216.34"]),
                "mapped.test" => Some(&["::ffff:10.0.0.1"]),
                _ => None,
            };
            let found = known.map(|list| list.iter().map(|text| text.parse().unwrap()).collect());
            Box::pin(std::future::ready(found.ok_or_else(|| std::io::Error::other("no such name"))))
        }
    }

    fn guard(allow: &[&str]) -> Guard {
        Guard::new(Allowed::parse(allow.iter().copied()).unwrap(), Arc::new(Few))
    }

    #[tokio::test]
    async fn every_way_to_write_a_blocked_address_is_refused() {
        for url in [
            "http://127.0.0.1:8080/hook",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]:80/",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://①②⑦.0.0.1/",
            "http://[fd00::1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://224.0.0.1/",
            "http://inside.test/",
            "http://mapped.test/",
            "https://inside.test:8443/x",
            "ftp://public.test/",
            "file:///etc/passwd",
            "gopher://public.test/",
            "http://user:pw@public.test/",
            "http://user@public.test/",
            "http://",
            "/hook",
            "public.test",
        ] {
            let fault = guard(&[]).admit(url, "url").await.expect_err(url);
            assert_eq!(fault.violations[0].field, "url", "{url}");
        }
    }

    #[tokio::test]
    async fn public_unknown_and_allowed_hosts_are_taken() {
        for url in
            ["http://public.test/", "https://unknown.test/", "http://93.184.216.34/", "http://both.test/"]
        {
            assert_eq!(guard(&[]).admit(url, "url").await, Ok(()), "{url}");
        }
        for (allow, url) in [
            ("127.0.0.0/8", "http://localhost:1/"),
            ("localhost", "http://localhost:1/"),
            ("127.0.0.1", "http://2130706433/"),
            ("inside.test", "http://inside.test/"),
            ("10.0.0.0/8", "http://mapped.test/"),
            ("::1", "http://[::1]/"),
        ] {
            assert_eq!(guard(&[allow]).admit(url, "url").await, Ok(()), "{allow} {url}");
        }
        assert!(guard(&["inside.test"]).admit("http://127.0.0.1/", "url").await.is_err());
    }

    #[tokio::test]
    async fn only_what_may_be_called_is_handed_on() {
        let texts = |found: Vec<IpAddr>| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(guard(&[]).resolve("both.test").await.unwrap()), ["93.184.216.34"]);
        assert_eq!(texts(guard(&["127.0.0.0/8"]).resolve("localhost").await.unwrap()), ["127.0.0.1"]);
        assert!(guard(&[]).resolve("localhost").await.unwrap().is_empty());
        let refused = Resolve::resolve(&guard(&[]), "inside.test".parse().unwrap()).await;
        assert!(refused.err().unwrap().to_string().contains("tasks.push_allow"));
    }
}
