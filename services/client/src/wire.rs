//! The bindings: one operation, one way to make it, three ways it looks.

mod grpc;
mod jsonrpc;
mod rest;
mod stream;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures::stream::BoxStream;
use http::HeaderMap;
use weft_proto::a2a::StreamResponse;

use crate::binding::{Binding, Interface, Version};
use crate::call::{Answer, Call, LAST_EVENT_ID};
use crate::client::Shared;
use crate::credentials::origin;
use crate::error::Why;
use crate::follow::Event;
use crate::http::Url;
use crate::legacy::Files;
use crate::operation::Operation;

/// The way to one interface of one agent.
pub(crate) struct Wire {
    shared: Arc<Shared>,
    interface: Interface,
    files: Files,
    /// Credentials may go there.
    trusted: bool,
    /// The agent does not know the method names of version 1.0.
    slashed: AtomicBool,
}

/// A stream that has begun.
pub(crate) struct Opened {
    pub(crate) events: BoxStream<'static, Result<Event, Why>>,
    pub(crate) access_token: Option<String>,
}

impl Wire {
    pub(crate) fn new(shared: Arc<Shared>, interface: Interface, files: Files, trusted: bool) -> Wire {
        Wire { shared, interface, files, trusted, slashed: AtomicBool::new(false) }
    }

    pub(crate) fn interface(&self) -> &Interface {
        &self.interface
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// One request, one answer.
    pub(crate) async fn unary<O: Operation>(
        &self,
        mut request: O::Request,
        call: &Call,
    ) -> Result<Answer<O::Answer>, Why> {
        self.name_tenant::<O>(&mut request);
        let work = async {
            let headers = self.headers(call, None).await?;
            match self.interface.binding {
                Binding::JsonRpc => self.jsonrpc_unary::<O>(&request, headers).await,
                Binding::Rest => self.rest_unary::<O>(&request, headers).await,
                Binding::Grpc => self.grpc_unary::<O>(request, headers).await,
            }
        };
        self.in_time(call, O::NAME, work).await
    }

    /// One request, a stream of answers; with `after`, of those that follow that event.
    pub(crate) async fn stream<O: Operation<Answer = StreamResponse>>(
        &self,
        mut request: O::Request,
        call: &Call,
        after: Option<&str>,
    ) -> Result<Opened, Why> {
        self.name_tenant::<O>(&mut request);
        let work = async {
            let headers = self.headers(call, after).await?;
            match self.interface.binding {
                Binding::JsonRpc => self.jsonrpc_stream::<O>(&request, headers).await,
                Binding::Rest => self.rest_stream::<O>(&request, headers).await,
                Binding::Grpc => self.grpc_stream::<O>(request, headers).await,
            }
        };
        self.in_time(call, O::NAME, work).await
    }

    /// Refuses to take a token for a task to an origin that credentials may not go to.
    pub(crate) fn check(&self, call: &Call, card: &Url) -> Result<(), Why> {
        if self.trusted || call.access_token.is_none() {
            return Ok(());
        }
        Err(Why::ForeignOrigin { card: origin(card), interface: origin(&self.interface.url) })
    }

    fn is_old(&self) -> bool {
        self.interface.version == Version::V03
    }

    fn name_tenant<O: Operation>(&self, request: &mut O::Request) {
        if !self.interface.tenant.is_empty() {
            O::tenant(request).clone_from(&self.interface.tenant);
        }
    }

    async fn headers(&self, call: &Call, after: Option<&str>) -> Result<HeaderMap, Why> {
        let mut headers = call.headers(self.interface.version)?;
        if let Some(id) = after.and_then(|id| id.parse().ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        // Credentials last: nothing a caller sets takes their place.
        if self.trusted
            && let Some(credentials) = &self.shared.credentials
        {
            headers.extend(credentials.headers(&self.interface.url).await?);
        }
        Ok(headers)
    }

    async fn in_time<T>(
        &self,
        call: &Call,
        what: &str,
        work: impl Future<Output = Result<T, Why>>,
    ) -> Result<T, Why> {
        let within = call.within.unwrap_or(self.shared.limits.answer);
        match tokio::time::timeout(within, work).await {
            Ok(done) => done,
            Err(_) => Err(Why::TimedOut(format!("{what} took more than {} ms", within.as_millis()))),
        }
    }
}
