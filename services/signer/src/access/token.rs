//! A bearer token that an identity provider signed (RFC 7519 in the compact form of RFC 7515), and what it claims.
//!
//! Nothing in a token says how it is to be checked: the algorithm must be one that the operator allows, symmetric ones
//! and `none` are not even known, and keys come from the provider alone (`jwk`, `jku` and `x5c` are not looked at).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use weft_core::scope;

use super::refusal::Refusal;

/// Longest token, in characters.
pub(crate) const CHARS_MAX: usize = 16 * 1024;
/// How far clocks may differ, in seconds.
const LEEWAY_S: f64 = 60.0;
/// Longest subject, in characters.
const SUBJECT_CHARS_MAX: usize = 512;
/// Most scopes that are taken from one token.
const SCOPES_MAX: usize = 256;
/// Types of tokens that are taken; one without a type is, too.
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// How a token may be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

/// A token that has the form of one; nothing in it is proved.
#[derive(Debug)]
pub(super) struct Token<'a> {
    /// What the signature is over.
    pub(super) signed: &'a str,
    pub(super) signature: Vec<u8>,
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    claims: Map<String, Value>,
}

// === impl Algorithm ===

impl Algorithm {
    pub(crate) const ALL: [Algorithm; 3] = [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];

    /// As in `alg`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

// === impl Token ===

/// True for what only a JWT looks like: three parts between dots.
pub(super) fn looks_like_one(bearer: &str) -> bool {
    bearer.split('.').count() == 3
}

impl<'a> Token<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Token<'a>, Refusal> {
        if text.len() > CHARS_MAX {
            return Err(Refusal::TokenTooLong);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Refusal::TokenMalformed)?;
        let (header, claims) = signed.split_once('.').ok_or(Refusal::TokenMalformed)?;
        let header = object(header)?;
        // A header that must be understood and is not (RFC 7515 §4.1.11) makes the token useless here.
        let known_type = match header.get("typ") {
            None => true,
            Some(typ) => typ.as_str().is_some_and(|typ| TYPES.contains(&typ.to_ascii_lowercase().as_str())),
        };
        if header.contains_key("crit") || !known_type {
            return Err(Refusal::TokenMalformed);
        }
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(Algorithm::named);
        let kid = match header.get("kid") {
            None => None,
            Some(kid) => Some(kid.as_str().ok_or(Refusal::TokenMalformed)?.to_owned()),
        };
        Ok(Token {
            signed,
            signature: bytes(signature)?,
            algorithm: algorithm.ok_or(Refusal::TokenAlgorithm)?,
            kid,
            claims: object(claims)?,
        })
    }

    /// Who says that they made it.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.text("iss")
    }

    /// Whether it is meant for `audience`.
    pub(super) fn is_for(&self, audience: &str) -> bool {
        match self.claims.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(audience)),
            _ => false,
        }
    }

    /// Checks its times at `now` (Unix seconds); for how many seconds it is good from now on.
    pub(super) fn lives(&self, now: i64) -> Result<u64, Refusal> {
        #[allow(clippy::cast_precision_loss, reason = "seconds of this age fit a double")]
        let now = now as f64;
        let ends = self.number("exp")?.ok_or(Refusal::TokenExpired)?;
        if ends + LEEWAY_S <= now {
            return Err(Refusal::TokenExpired);
        }
        if self.number("nbf")?.is_some_and(|begins| begins - LEEWAY_S > now) {
            return Err(Refusal::TokenNotYet);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        Ok((ends - now).max(0.0) as u64)
    }

    /// Whom it speaks of.
    pub(super) fn subject(&self) -> Result<&str, Refusal> {
        let fits = |text: &&str| {
            !text.is_empty() && text.len() <= SUBJECT_CHARS_MAX && !text.chars().any(char::is_control)
        };
        self.text("sub").filter(fits).ok_or(Refusal::TokenSubject)
    }

    /// Its scopes: of `claim` when one is named, else of `scope` (RFC 8693 §4.2), else of `scp`. Each of them may be a
    /// text with spaces between or a list.
    pub(super) fn scopes(&self, claim: Option<&str>) -> Vec<String> {
        let found = match claim {
            Some(claim) => self.claims.get(claim),
            None => self.claims.get("scope").or_else(|| self.claims.get("scp")),
        };
        let texts: Vec<&str> = match found {
            Some(Value::String(text)) => text.split(' ').collect(),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        texts.into_iter().filter(|text| scope::is_scope(text)).take(SCOPES_MAX).map(str::to_owned).collect()
    }

    fn text(&self, claim: &str) -> Option<&str> {
        self.claims.get(claim).and_then(Value::as_str)
    }

    fn number(&self, claim: &str) -> Result<Option<f64>, Refusal> {
        match self.claims.get(claim) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(Refusal::TokenMalformed),
        }
    }
}

fn bytes(part: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Refusal::TokenMalformed)
}

fn object(part: &str) -> Result<Map<String, Value>, Refusal> {
    serde_json::from_slice(&bytes(part)?).map_err(|_| Refusal::TokenMalformed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn token(header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.AAAA", part(header), part(claims))
    }

    fn claims(claims: &Value) -> String {
        token(&json!({ "alg": "ES256" }), claims)
    }

    #[test]
    fn algorithms_that_prove_nothing_are_not_known() {
        for alg in ["none", "None", "nOnE", "HS256", "HS512", "RS1", "PS256", "rs256", ""] {
            let text = token(&json!({ "alg": alg }), &json!({}));
            assert_eq!(Token::parse(&text).unwrap_err(), Refusal::TokenAlgorithm, "{alg}");
        }
        assert_eq!(Token::parse(&token(&json!({}), &json!({}))).unwrap_err(), Refusal::TokenAlgorithm);
    }

    #[test]
    fn what_is_not_a_signed_jwt_is_malformed() {
        let good = claims(&json!({}));
        assert!(Token::parse(&good).is_ok());
        let parts: Vec<_> = good.split('.').collect();
        for bad in [
            String::new(),
            "a.b".to_owned(),
            format!("{good}.x"),
            format!("{}=.{}.{}", parts[0], parts[1], parts[2]),
            format!("{}.{}.a+/b", parts[0], parts[1]),
            token(&json!({ "alg": "ES256", "crit": ["b64"], "b64": false }), &json!({})),
            token(&json!({ "alg": "ES256", "typ": "dpop+jwt" }), &json!({})),
            token(&json!({ "alg": "ES256", "kid": 7 }), &json!({})),
            token(&json!({ "alg": "ES256" }), &json!([])),
        ] {
            assert_eq!(Token::parse(&bad).unwrap_err(), Refusal::TokenMalformed, "{bad}");
        }
        assert_eq!(Token::parse(&"x".repeat(CHARS_MAX + 1)).unwrap_err(), Refusal::TokenTooLong);
    }

    #[test]
    fn times_are_judged_with_a_minute_of_leeway() {
        let check = |value: Value, expected: Result<u64, Refusal>| {
            let text = claims(&value);
            assert_eq!(Token::parse(&text).unwrap().lives(NOW), expected, "{value}");
        };
        check(json!({}), Err(Refusal::TokenExpired));
        check(json!({ "exp": NOW + 30 }), Ok(30));
        check(json!({ "exp": NOW - 59 }), Ok(0));
        check(json!({ "exp": NOW - 60 }), Err(Refusal::TokenExpired));
        check(json!({ "exp": "soon" }), Err(Refusal::TokenMalformed));
        check(json!({ "exp": NOW + 30, "nbf": NOW + 60 }), Ok(30));
        check(json!({ "exp": NOW + 90, "nbf": NOW + 61 }), Err(Refusal::TokenNotYet));
    }

    #[test]
    fn audience_subject_and_scopes_come_in_the_forms_that_providers_use() {
        let text = claims(&json!({ "aud": ["x", "weft"], "sub": "a b", "scope": "a2a:read crm:read" }));
        let token = Token::parse(&text).unwrap();
        assert!(token.is_for("weft") && !token.is_for("we"));
        assert_eq!(token.subject(), Ok("a b"));
        assert_eq!(token.scopes(None), ["a2a:read", "crm:read"]);
        let text = claims(&json!({ "aud": "weft", "scp": ["a2a:read", 7, "b c"], "roles": "weft:admin" }));
        let token = Token::parse(&text).unwrap();
        assert!(token.is_for("weft"));
        assert_eq!(token.subject(), Err(Refusal::TokenSubject));
        assert_eq!(
            (token.scopes(None), token.scopes(Some("roles"))),
            (vec!["a2a:read".to_owned()], vec!["weft:admin".to_owned()])
        );
    }
}
