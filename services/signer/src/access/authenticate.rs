//! The credentials of one call become a principal, or one reason why not.
//!
//! Cheap checks come first, the seal last: its nonce is burned only for a call whose other credentials are good.

use std::sync::Arc;

use weft_core::Owner;
use weft_proto::weft as pb;
use weft_proto::weft::principal::Method;

use super::book::Provider;
use super::certificate;
use super::follow::Present;
use super::refusal::{Failed, Refusal};
use super::token::{self, Token};
use crate::seals::{Bad, Seals};

/// How long an answer may be kept, in milliseconds. What is removed from the file is gone at once all the same: the
/// policy's version grows.
const KEEP_MS: u32 = 60_000;

/// Somebody who proved who they are, and for how long that holds.
struct Proved {
    principal: pb::Principal,
    keep_ms: u32,
}

/// # Errors
/// One reason; see [`Failed`].
pub(super) async fn authenticate(
    present: &Present,
    seals: &Seals,
    request: &pb::AuthenticateRequest,
    now: i64,
) -> Result<pb::AuthenticateResponse, Failed> {
    let mut proved = Vec::new();
    if !request.bearer.is_empty() {
        proved.push(bearer(present, &request.bearer, now).await?);
    }
    if !request.api_key.is_empty() {
        let found = present.book.by_api_key(&request.api_key).ok_or(Refusal::UnknownApiKey)?;
        proved.push(Proved::of(found, Method::ApiKey, KEEP_MS));
    }
    if !request.certificate.is_empty() {
        proved.push(shown(present, &request.certificate)?);
    }
    one(&proved)?;
    if let Some(sealed) = &request.sealed {
        proved.push(seal(present, seals, sealed)?);
    }
    one(&proved)?;
    let keep_ms = proved.iter().map(|proved| proved.keep_ms).min().unwrap_or(0);
    let first = proved.into_iter().next().ok_or(Refusal::None)?;
    Ok(pb::AuthenticateResponse { principal: Some(first.principal), keep_ms })
}

/// All of them must be one.
fn one(proved: &[Proved]) -> Result<(), Refusal> {
    let same = proved.windows(2).all(|pair| pair[0].principal.owner == pair[1].principal.owner);
    if same { Ok(()) } else { Err(Refusal::DifferentPrincipals) }
}

async fn bearer(present: &Present, text: &str, now: i64) -> Result<Proved, Failed> {
    if text.len() > token::CHARS_MAX {
        return Err(Refusal::TokenTooLong.into());
    }
    if let Some(found) = present.book.by_bearer(text) {
        return Ok(Proved::of(found, Method::Bearer, KEEP_MS));
    }
    if present.book.providers.is_empty() || !token::looks_like_one(text) {
        return Err(Refusal::UnknownToken.into());
    }
    let token = Token::parse(text)?;
    let issuer = token.issuer().ok_or(Refusal::TokenIssuer)?;
    let ours = || present.book.providers.iter().zip(&present.keys).filter(|(p, _)| p.place.issuer == issuer);
    ours().next().ok_or(Refusal::TokenIssuer)?;
    let (provider, keys) = ours().find(|(p, _)| token.is_for(&p.audience)).ok_or(Refusal::TokenAudience)?;
    if !provider.algorithms.contains(&token.algorithm) {
        return Err(Refusal::TokenAlgorithm.into());
    }
    let lives_s = token.lives(now)?;
    let subject = token.subject()?;
    // Only now is anybody asked for keys.
    keys.verify(&token).await?;
    let keep_ms = u32::try_from(lives_s.saturating_mul(1_000)).unwrap_or(KEEP_MS).min(KEEP_MS);
    Ok(Proved { principal: of_subject(provider, subject, &token)?, keep_ms })
}

fn of_subject(provider: &Provider, subject: &str, token: &Token<'_>) -> Result<pb::Principal, Refusal> {
    let owner = Owner::subject(&provider.name, subject).map_err(|_| Refusal::TokenSubject)?;
    let mut scopes = token.scopes(provider.scopes_claim.as_deref());
    scopes.extend(provider.scopes.iter().cloned());
    scopes.sort();
    scopes.dedup();
    Ok(pb::Principal {
        owner: owner.as_str().to_owned(),
        name: subject.to_owned(),
        method: Method::Oidc.into(),
        scopes,
        capabilities: provider.capabilities.clone(),
        allowance: Some(provider.allowance),
        peer: false,
    })
}

fn shown(present: &Present, der: &[u8]) -> Result<Proved, Refusal> {
    let certificate = certificate::read(der).ok_or(Refusal::MalformedCertificate)?;
    let mut found = present.book.by_certificate(&certificate);
    let first = found.next().ok_or(Refusal::UnknownCertificate)?;
    if found.any(|other| other.owner != first.owner) {
        return Err(Refusal::DifferentPrincipals);
    }
    Ok(Proved::of(first, Method::Mtls, KEEP_MS))
}

fn seal(present: &Present, seals: &Seals, sealed: &pb::VerifyRequest) -> Result<Proved, Failed> {
    let good = seals.check(sealed).map_err(|bad| match bad {
        Bad::Seal(fault) if fault.retryable() => Failed::Unavailable(fault.public(), 1_000),
        Bad::Seal(fault) => Refusal::Seal(fault.code()).into(),
        Bad::Request(fault) => Failed::Invalid(fault),
    })?;
    let found = present.book.by_seal(&good.peer).ok_or(Refusal::UnknownPeer)?;
    Ok(Proved::of(found, Method::Seal, 0))
}

// === impl Proved ===

impl Proved {
    fn of(principal: &Arc<pb::Principal>, method: Method, keep_ms: u32) -> Proved {
        let principal = pb::Principal { method: method.into(), ..pb::Principal::clone(principal) };
        Proved { principal, keep_ms }
    }
}
