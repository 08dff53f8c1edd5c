//! A guard's resolver, and beside it the one name that it is not asked about: the proxy's.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// See the module.
pub(super) struct Beside<R> {
    guard: R,
    proxy: String,
}

impl<R> Beside<R> {
    pub(super) fn new(guard: R, proxy: String) -> Beside<R> {
        Beside { guard, proxy }
    }
}

impl<R: Resolve> Resolve for Beside<R> {
    fn resolve(&self, name: Name) -> Resolving {
        if !name.as_str().eq_ignore_ascii_case(&self.proxy) {
            return self.guard.resolve(name);
        }
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}
