//! The gate: rate of the address, then who calls. What comes through carries its [`Who`] with it.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::{Extension, Router};
use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{Extensions, Response};
use weft_core::{Fault, Kind, scope};

use super::presented::Presented;
use super::session;
use super::{Access, Session, Who, challenge, origin, seal};
use crate::early;
use crate::edge::{Edge, peer_of};

/// Who makes a request, put on it by the gate.
#[derive(Clone)]
pub(crate) struct Admitted(pub(crate) Arc<Who>);

/// For the operations of A2A and their files: anybody who is somebody.
pub(crate) async fn callers(State(edge): State<Arc<Edge>>, request: Request, next: Next) -> Response<Body> {
    // Health and reflection are for everybody, as the card is.
    if request.uri().path().starts_with("/grpc.") {
        return next.run(request).await;
    }
    pass(&edge, request, next, |_| Ok(())).await
}

/// For the console's calls: administrators, and whoever is local.
pub(crate) async fn administrators(
    State(edge): State<Arc<Edge>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    pass(&edge, request, next, |who| who.needs(scope::ADMIN)).await
}

/// The same routes for whoever runs the mesh and looks at them from within, over no connection.
pub(crate) fn inspected(routes: Router) -> Router {
    routes.layer(Extension(Admitted(Who::local())))
}

async fn pass(
    edge: &Edge,
    request: Request,
    next: Next,
    may: impl FnOnce(&Who) -> Result<(), Fault>,
) -> Response<Body> {
    if request.extensions().get::<Admitted>().is_some() {
        return next.run(request).await;
    }
    let began = Instant::now();
    let (mut parts, body) = request.into_parts();
    let admitted = match edge.limits().rate(peer_of(&parts.extensions)) {
        Ok(()) => identify(edge, &parts, body).await,
        Err(fault) => Err(fault),
    };
    let judged = admitted.and_then(|(who, body)| {
        parts.extensions.insert(Admitted(Arc::clone(&who)));
        may(&who).map(|()| body)
    });
    let mut answer = match judged {
        Ok(body) => next.run(Request::from_parts(parts, body)).await,
        Err(fault) => {
            edge.counters().called("none", fault.kind.row().reason, began.elapsed());
            edge.audit().refused(&parts.extensions, place(&parts.extensions), &fault);
            early::refusal(&parts.method, &parts.uri, &parts.headers, fault)
        }
    };
    if answer.headers().contains_key(WWW_AUTHENTICATE)
        && let Ok(policy) = edge.access().policy().await
    {
        challenge::or_key(answer.headers_mut(), &policy);
    }
    answer
}

/// What is asked for, as the routes have it: nothing of it is the caller's.
fn place(extensions: &Extensions) -> &str {
    extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str)
}

/// Who makes a request, and its body, which nobody has read unless a seal covers it.
async fn identify(edge: &Edge, parts: &Parts, body: Body) -> Result<(Arc<Who>, Body), Fault> {
    let access = edge.access();
    let policy = access.policy().await?;
    let peer = peer_of(&parts.extensions);
    if !policy.credentials {
        return access.stranger(&policy, peer).map(|who| (who, body));
    }
    let presented = shown(edge, parts, &parts.extensions)?;
    if !presented.names_itself()
        && let Some(id) = session::id(&parts.headers)
    {
        return access.by_cookie(edge, parts, id, policy.version).map(|who| (who, body));
    }
    if presented.is_nothing() {
        return access.stranger(&policy, peer).map(|who| (who, body));
    }
    if !presented.sealed {
        return access.prove(&policy, presented, None, peer).await.map(|who| (who, body));
    }
    // What a stranger's seal costs counts as a call under way.
    let _permit = edge.limits().call()?;
    let (sealed, body) = seal::read(edge, parts, body).await?;
    access.prove(&policy, presented, Some(sealed), peer).await.map(|who| (who, body))
}

// === impl Access ===

impl Access {
    /// Whoever signed in at the console, calling from its page.
    fn by_cookie(&self, edge: &Edge, parts: &Parts, id: &str, version: u64) -> Result<Arc<Who>, Fault> {
        let session = self
            .sessions
            .find(id, version, self.env.unix_ms())
            .ok_or_else(|| challenge::required("the session is over: sign in again"))?;
        only_own_page(edge, parts, &session, "a session is good for calls of the console's own page only")?;
        Ok(session.who)
    }

    /// Who signs in at the console: by a bearer token, and nothing else.
    ///
    /// # Errors
    /// `Unauthenticated` without one, `Denied` when it is no administrator's.
    pub(crate) async fn signs_in(&self, edge: &Edge, parts: &Parts) -> Result<(Arc<Who>, u64), Fault> {
        let policy = self.policy().await?;
        if !policy.credentials {
            let text = "nobody needs to sign in here: no credential is configured";
            return Err(Fault::new(Kind::UnsupportedOperation, text));
        }
        let presented = shown(edge, parts, &Extensions::new())?;
        if presented.bearer.is_empty() {
            return Err(challenge::required("send the token of an administrator: Authorization: Bearer"));
        }
        let bearer = Presented { api_key: String::new(), sealed: false, ..presented };
        let peer = peer_of(&parts.extensions);
        let who = self.prove(&policy, bearer, None, peer).await?;
        who.needs(scope::ADMIN)
            .inspect_err(|fault| edge.audit().denied(&who, peer, place(&parts.extensions), fault))?;
        edge.audit().done("session.begin", &who, peer);
        Ok((who, policy.version))
    }

    /// Ends the session of a request that comes from the console's own page.
    ///
    /// # Errors
    /// `Denied` for any other page.
    pub(crate) fn signs_out(&self, edge: &Edge, parts: &Parts) -> Result<(), Fault> {
        let Some(id) = session::id(&parts.headers) else { return Ok(()) };
        let Some(session) = self.sessions.any(id) else { return Ok(()) };
        only_own_page(edge, parts, &session, "only the console's own page signs out")?;
        self.sessions.close(id);
        edge.audit().done("session.end", &session.who, peer_of(&parts.extensions));
        Ok(())
    }
}

/// What a request shows. What cannot be a credential is written down here, since nobody else hears of it.
fn shown(edge: &Edge, parts: &Parts, extensions: &Extensions) -> Result<Presented, Fault> {
    Presented::read(&parts.headers, extensions)
        .inspect_err(|_| edge.audit().malformed(peer_of(&parts.extensions)))
}

fn only_own_page(edge: &Edge, parts: &Parts, session: &Session, otherwise: &str) -> Result<(), Fault> {
    if origin::is_own(parts, edge.public_base()) {
        return Ok(());
    }
    let fault = challenge::foreign_page(otherwise);
    edge.audit().denied(&session.who, peer_of(&parts.extensions), place(&parts.extensions), &fault);
    Err(fault)
}
