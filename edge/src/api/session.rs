//! `/api/session`: how an administrator signs in at the console, so that its page need not keep a token.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::Serialize;
use weft_core::Fault;

use crate::access::{COOKIE_NAME, LASTS_S, Session, session_id};
use crate::edge::{Edge, peer_of};
use crate::plain;

/// What the page asks first.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    /// Whether anybody must sign in.
    needed: bool,
    signed_in: bool,
    /// Who has; empty: nobody.
    name: &'a str,
}

/// `GET`: whether one must sign in, and who has.
pub(crate) async fn show(State(edge): State<Arc<Edge>>, headers: HeaderMap) -> Response<Body> {
    let policy = match edge.access().policy().await {
        Ok(policy) => policy,
        Err(fault) => return plain::fault(&fault),
    };
    let now_ms = edge.env().unix_ms();
    let found = session_id(&headers).and_then(|id| edge.access().sessions().find(id, policy.version, now_ms));
    let name = found.as_ref().map_or("", |session| session.who.name.as_str());
    shown(&Shown { needed: policy.credentials, signed_in: found.is_some(), name })
}

/// `POST` with the bearer token of an administrator: begins a session.
pub(crate) async fn sign_in(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    let (parts, _) = request.into_parts();
    let admitted = match edge.limits().rate(peer_of(&parts.extensions)) {
        Ok(()) => edge.access().signs_in(&edge, &parts).await,
        Err(fault) => Err(fault),
    };
    let (who, version) = match admitted {
        Ok(admitted) => admitted,
        Err(fault) => return plain::fault(&fault),
    };
    let mut random = [0; 32];
    edge.env().fill(&mut random);
    let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut answer = shown(&Shown { needed: true, signed_in: true, name: &who.name });
    let until_ms = edge.env().unix_ms() + i64::from(LASTS_S) * 1_000;
    edge.access().sessions().open(&id, Session { who, version, until_ms });
    set(&mut answer, &edge, &id, LASTS_S);
    answer
}

/// `DELETE`: ends it.
pub(crate) async fn sign_out(State(edge): State<Arc<Edge>>, request: Request) -> Response<Body> {
    let (parts, _) = request.into_parts();
    match edge.access().signs_out(&edge, &parts) {
        Ok(()) => {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            set(&mut answer, &edge, "", 0);
            answer
        }
        Err(fault) => plain::fault(&fault),
    }
}

fn shown(what: &Shown<'_>) -> Response<Body> {
    match serde_json::to_vec(what) {
        Ok(body) => plain::json(StatusCode::OK, body),
        Err(error) => plain::fault(&Fault::internal(format!("the session cannot be shown: {error}"))),
    }
}

/// Out of reach of scripts, for requests of this site alone, and under TLS alone where that is how pages come.
fn set(answer: &mut Response<Body>, edge: &Edge, id: &str, lasts_s: u32) {
    let path = Some(edge.base_path()).filter(|path| !path.is_empty()).unwrap_or("/");
    let secure = if edge.public_base().starts_with("https://") { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={id}; Path={path}; Max-Age={lasts_s}; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::try_from(cookie).expect("hex digits and a checked path are visible ASCII");
    answer.headers_mut().insert(SET_COOKIE, cookie);
}
