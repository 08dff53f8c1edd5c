//! Tokens, keys, certificates and seals of the access file.

use rcgen::{CertificateParams, KeyPair, SanType};
use weft_chassis::Env;
use weft_core::Kind;
use weft_proto::weft::principal::Method;
use weft_proto::weft::{AuthenticateRequest, Header, VerifyRequest};
use weft_seal::{Call, Key};

use crate::world::{World, digest};

fn certificate(dns: &str, uri: &str) -> Vec<u8> {
    let mut params = CertificateParams::new(vec![dns.to_owned()]).unwrap();
    params.subject_alt_names.push(SanType::URI(uri.try_into().unwrap()));
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
}

fn request() -> AuthenticateRequest {
    AuthenticateRequest::default()
}

/// A call to the mesh, sealed by a node now.
fn sealed(key: &Key, nonce: u8) -> VerifyRequest {
    let target = "http://127.0.0.1:8420/a2a";
    let call = Call {
        method: "POST",
        target_uri: target,
        body_sha256: weft_seal::digest(b"{}"),
        audience: "mesh",
        scope: "message:send",
        hop: &[],
    };
    // One second on: a signer refuses what may have been made before it started.
    let headers = weft_seal::seal(key, &call, Env::system().now().seconds + 1, &[nonce; 16]).unwrap();
    let pair = |(name, value): &(http::HeaderName, http::HeaderValue)| Header {
        name: name.as_str().to_owned(),
        value: value.to_str().unwrap().to_owned(),
    };
    VerifyRequest {
        method: "POST".into(),
        target_uri: target.into(),
        body_sha256: weft_seal::digest(b"{}").to_vec(),
        headers: headers.iter().map(pair).collect(),
    }
}

fn trust(data: &std::path::Path, node: &str, key: &Key) {
    use std::os::unix::fs::PermissionsExt as _;
    let keys = data.join("keys");
    std::fs::create_dir_all(keys.join("peers")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(keys.join(format!("peers/{node}.jwk")), key.public().unwrap().to_jwk().to_string())
        .unwrap();
}

#[tokio::test]
async fn tokens_and_keys_name_their_principal_and_unknown_ones_nobody() {
    let world = World::new(&format!(
        "[[principal]]\nname = \"ci\"\nbearer = [\"{}\", \"{}\"]\napi_key = [\"{}\"]\n",
        digest(b"weft_one"),
        digest(b"weft_next"),
        digest(b"weft_two"),
    ));
    for token in ["weft_one", "weft_next"] {
        let answer = world.bearer(token).await.unwrap();
        let principal = answer.principal.unwrap();
        assert_eq!(
            (principal.owner.as_str(), principal.method(), answer.keep_ms),
            ("p:ci", Method::Bearer, 60_000)
        );
    }
    let answer = world.ask(AuthenticateRequest { api_key: "weft_two".into(), ..request() }).await.unwrap();
    assert_eq!(answer.principal.unwrap().method(), Method::ApiKey);
    world.assert_token_refused("weft_two", "TOKEN_UNKNOWN").await;
    world.assert_token_refused("a.b.c", "TOKEN_UNKNOWN").await;
    world.assert_token_refused(&"x".repeat(20_000), "TOKEN_TOO_LONG").await;
    let key = AuthenticateRequest { api_key: "weft_one".into(), ..request() };
    world.assert_refused(key, "API_KEY_UNKNOWN").await;
    world.assert_refused(request(), "NO_CREDENTIALS").await;
}

#[tokio::test]
async fn a_certificate_is_known_by_its_digest_or_by_a_name_in_it() {
    let (one, two, stranger) = (
        certificate("CI.example", "spiffe://mesh/ci"),
        certificate("ops.example", "spiffe://mesh/ops"),
        certificate("who.example", "spiffe://mesh/who"),
    );
    let both = certificate("ci.example", "spiffe://mesh/ops");
    let access = format!(
        "[clients]\nca = \"ca.pem\"\n\
         [[principal]]\nname = \"ci\"\ncertificate = [\"san:dns:ci.example\"]\n\
         [[principal]]\nname = \"ops\"\ncertificate = [\"san:uri:spiffe://mesh/ops\"]\n\
         [[principal]]\nname = \"who\"\ncertificate = [\"{}\"]\n",
        digest(&stranger)
    );
    let world = World::prepared(&access, |data| {
        std::fs::write(data.join("ca.pem"), "-----BEGIN CERTIFICATE-----\n").unwrap();
    });
    for (der, owner) in [(one, "p:ci"), (two, "p:ops"), (stranger, "p:who")] {
        let answer = world.ask(AuthenticateRequest { certificate: der, ..request() }).await.unwrap();
        let principal = answer.principal.unwrap();
        assert_eq!((principal.owner.as_str(), principal.method()), (owner, Method::Mtls));
    }
    let shown = |certificate: Vec<u8>| AuthenticateRequest { certificate, ..request() };
    world
        .assert_refused(shown(certificate("ci.example.org", "spiffe://mesh/x")), "CERTIFICATE_UNKNOWN")
        .await;
    world.assert_refused(shown(both), "DIFFERENT_PRINCIPALS").await;
    world.assert_refused(shown(b"no certificate".to_vec()), "CERTIFICATE_MALFORMED").await;
}

#[tokio::test]
async fn a_seal_names_a_listed_peer_for_one_call() {
    let (listed, unlisted, stranger) =
        (Key::from_seed(&[4; 32]), Key::from_seed(&[5; 32]), Key::from_seed(&[6; 32]));
    let access = "[[principal]]\nname = \"north\"\nseal = [\"crm\"]\npeer = true\n";
    let world = World::prepared(access, |data| {
        trust(data, "crm", &listed);
        trust(data, "lan", &unlisted);
    });
    let call = |sealed: VerifyRequest| AuthenticateRequest { sealed: Some(sealed), ..request() };
    let once = sealed(&listed, 1);
    let answer = world.ask(call(once.clone())).await.unwrap();
    let principal = answer.principal.unwrap();
    assert_eq!(
        (principal.owner.as_str(), principal.method(), principal.peer, answer.keep_ms),
        ("p:north", Method::Seal, true, 0)
    );
    world.assert_refused(call(once), "REPLAYED").await;
    world.assert_refused(call(sealed(&unlisted, 2)), "PEER_UNKNOWN").await;
    world.assert_refused(call(sealed(&stranger, 3)), "UNKNOWN_KEY").await;
    let fault = world.ask(call(VerifyRequest::default())).await.unwrap_err();
    assert_eq!((fault.kind, fault.violations[0].field.as_str()), (Kind::Invalid, "bodySha256"));
}

#[tokio::test]
async fn several_credentials_must_name_one_principal_and_each_must_be_good() {
    let key = Key::from_seed(&[4; 32]);
    let access = format!(
        "[[principal]]\nname = \"ci\"\nbearer = [\"{}\"]\napi_key = [\"{}\"]\nseal = [\"crm\"]\n\
         [[principal]]\nname = \"ops\"\napi_key = [\"{}\"]\n",
        digest(b"one"),
        digest(b"two"),
        digest(b"three"),
    );
    let world = World::prepared(&access, |data| trust(data, "crm", &key));
    let both =
        |api_key: &str| AuthenticateRequest { bearer: "one".into(), api_key: api_key.into(), ..request() };
    assert_eq!(world.ask(both("two")).await.unwrap().principal.unwrap().owner, "p:ci");
    world.assert_refused(both("three"), "DIFFERENT_PRINCIPALS").await;
    world.assert_refused(both("four"), "API_KEY_UNKNOWN").await;
    // The seal of a call that is refused for something else can be used again.
    let seal = sealed(&key, 9);
    let bad = AuthenticateRequest { sealed: Some(seal.clone()), ..both("three") };
    world.assert_refused(bad, "DIFFERENT_PRINCIPALS").await;
    let good = AuthenticateRequest { sealed: Some(seal), ..both("two") };
    assert_eq!(world.ask(good).await.unwrap().keep_ms, 0, "no answer with a seal is kept");
    let other = AuthenticateRequest { api_key: "three".into(), sealed: Some(sealed(&key, 10)), ..request() };
    world.assert_refused(other, "DIFFERENT_PRINCIPALS").await;
}
