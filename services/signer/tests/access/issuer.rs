//! An identity provider on this machine: its description, its keys, and tokens in its name, made with another library
//! than the one under test.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use rsa::pkcs1::EncodeRsaPrivateKey as _;
use rsa::traits::PublicKeyParts as _;
use rsa::{Generate as _, PrivateKey};
use serde_json::{Value, json};
use weft_chassis::Env;

/// How it answers when it is asked for its keys.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Keys,
    Error,
    Redirect(String),
    Huge,
}

#[derive(Clone)]
pub(crate) struct Issuer {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    url: String,
    keys: Mutex<Vec<Value>>,
    answer: Mutex<Answer>,
    named: Mutex<Option<String>>,
    asked: AtomicUsize,
}

/// A key that signs tokens.
pub(crate) struct Signing {
    pub(crate) kid: String,
    pub(crate) algorithm: Algorithm,
    key: EncodingKey,
    jwk: Value,
}

// === impl Issuer ===

impl Issuer {
    /// Starts one that publishes these keys.
    pub(crate) async fn start(keys: &[&Signing]) -> Issuer {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            url: url.clone(),
            keys: Mutex::default(),
            answer: Mutex::new(Answer::Keys),
            named: Mutex::default(),
            asked: AtomicUsize::new(0),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(describe))
            .route("/jwks", get(jwks))
            .with_state(shared.clone());
        Env::system().spawn(async move { axum::serve(listener, router).await.unwrap() });
        let issuer = Issuer { url, shared };
        issuer.publish(keys);
        issuer
    }

    pub(crate) fn publish(&self, keys: &[&Signing]) {
        *self.shared.keys.lock().unwrap() = keys.iter().map(|key| key.jwk.clone()).collect();
    }

    pub(crate) fn answers(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    /// Its description names another issuer from now on.
    pub(crate) fn calls_itself(&self, issuer: &str) {
        *self.shared.named.lock().unwrap() = Some(issuer.to_owned());
    }

    /// How often it was asked for its keys.
    pub(crate) fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }

    /// The access file of a mesh that trusts it.
    pub(crate) fn access(&self) -> String {
        format!("[[provider]]\nname = \"corp\"\nissuer = \"{}\"\naudience = \"weft\"\n", self.url)
    }

    /// What a good token claims.
    pub(crate) fn claims(&self) -> Value {
        let now = Env::system().now().seconds;
        json!({ "iss": self.url, "aud": "weft", "sub": "alice", "iat": now, "exp": now + 300, "scope": "a2a:read" })
    }
}

async fn describe(State(shared): State<Arc<Shared>>) -> Response {
    let named = shared.named.lock().unwrap().clone();
    let issuer = named.unwrap_or_else(|| shared.url.clone());
    let jwks = format!("{}/jwks", shared.url);
    axum::Json(json!({ "issuer": issuer, "jwks_uri": jwks })).into_response()
}

async fn jwks(State(shared): State<Arc<Shared>>) -> Response {
    shared.asked.fetch_add(1, Ordering::SeqCst);
    let answer = shared.answer.lock().unwrap().clone();
    match answer {
        Answer::Keys => axum::Json(json!({ "keys": *shared.keys.lock().unwrap() })).into_response(),
        Answer::Error => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Answer::Redirect(to) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        Answer::Huge => format!("{{\"keys\":[\"{}\"]}}", "x".repeat(300 * 1024)).into_response(),
    }
}

// === impl Signing ===

impl Signing {
    pub(crate) fn rs256(kid: &str) -> Signing {
        // Made once: that takes a while.
        static KEY: OnceLock<PrivateKey> = OnceLock::new();
        let key = KEY.get_or_init(PrivateKey::generate);
        let jwk = json!({ "kty": "RSA", "n": b64(&key.n_bytes()), "e": b64(&key.e_bytes()) });
        Signing::new(
            kid,
            Algorithm::RS256,
            EncodingKey::from_rsa_der(key.to_pkcs1_der().unwrap().as_bytes()),
            jwk,
        )
    }

    pub(crate) fn es256(kid: &str) -> Signing {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": b64(x), "y": b64(y) });
        Signing::new(kid, Algorithm::ES256, EncodingKey::from_ec_der(pkcs8.as_ref()), jwk)
    }

    pub(crate) fn eddsa(kid: &str) -> Signing {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": b64(pair.public_key().as_ref()) });
        Signing::new(kid, Algorithm::EdDSA, EncodingKey::from_ed_der(pkcs8.as_ref()), jwk)
    }

    fn new(kid: &str, algorithm: Algorithm, key: EncodingKey, mut jwk: Value) -> Signing {
        jwk["kid"] = json!(kid);
        jwk["use"] = json!("sig");
        Signing { kid: kid.to_owned(), algorithm, key, jwk }
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.token_as(&self.kid, claims)
    }

    /// A token that names another key than it is signed with.
    pub(crate) fn token_as(&self, kid: &str, claims: &Value) -> String {
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(self.algorithm) };
        jsonwebtoken::encode(&header, claims, &self.key).unwrap()
    }

    /// The public key as text, as somebody would take it for a shared secret.
    pub(crate) fn public_text(&self) -> String {
        self.jwk["n"].as_str().or(self.jwk["x"].as_str()).unwrap().to_owned()
    }
}

pub(crate) fn b64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
