//! The signer through its generated client, in process, as the rest of the mesh reaches it.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use weft_chassis::{Env, Peer, peer, status};
use weft_core::{Fault, Kind};
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::{Header, JwksRequest, SignRequest, VerifyRequest, VerifyResponse};
use weft_seal::card::is_for_cards;
use weft_seal::{Body, Call, IncomingCall, Key, Nonces, Secret, Verifier, Window, digest};
use weft_signer::{Settings, Signer};

const BODY: &[u8] = br#"{"tool":"customers"}"#;
const TARGET: &str = "http://127.0.0.1:8431/peer/invoke";

fn client(signer: &Signer) -> SignerClient<Peer> {
    SignerClient::new(peer::local(signer.routes()))
}

fn open(data: &Path, env: &Env) -> Signer {
    Signer::open(&Settings::default(), data, env).unwrap()
}

fn request() -> SignRequest {
    SignRequest {
        method: "POST".into(),
        target_uri: TARGET.into(),
        body_sha256: digest(BODY).to_vec(),
        audience: "crm".into(),
        scope: "tool:customers".into(),
        covered: vec![header("weft-depth", "1")],
    }
}

fn header(name: &str, value: &str) -> Header {
    Header { name: name.into(), value: value.into() }
}

fn map(headers: &[Header]) -> HeaderMap {
    let pair =
        |h: &Header| (HeaderName::try_from(&h.name).unwrap(), HeaderValue::try_from(&h.value).unwrap());
    headers.iter().map(pair).collect()
}

async fn verify(client: &mut SignerClient<Peer>, headers: Vec<Header>) -> Result<VerifyResponse, Fault> {
    let (method, target_uri) = ("POST".into(), "http://127.0.0.1:8420/a2a".into());
    let request = VerifyRequest { method, target_uri, body_sha256: digest(BODY).to_vec(), headers };
    client.verify(request).await.map(tonic::Response::into_inner).map_err(|refused| status::fault(&refused))
}

/// Headers of a call to the mesh, sealed by a node.
fn call_to_mesh(key: &Key, created: i64) -> Vec<Header> {
    let call = Call {
        method: "POST",
        target_uri: "http://127.0.0.1:8420/a2a",
        body_sha256: digest(BODY),
        audience: "mesh",
        scope: "message:send",
        hop: &[],
    };
    let headers = weft_seal::seal(key, &call, created, &[7; 16]).unwrap();
    headers.iter().map(|(name, value)| header(name.as_str(), value.to_str().unwrap())).collect()
}

#[tokio::test]
async fn a_node_that_knows_the_public_key_opens_what_the_signer_sealed() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let signer = open(data.path(), &env);
    let sealed = client(&signer).sign(request()).await.unwrap().into_inner().headers;
    let names: Vec<_> = sealed.iter().map(|h| h.name.as_str()).collect();
    let expected =
        ["content-digest", "weft-audience", "weft-scope", "weft-depth", "signature-input", "signature"];
    assert_eq!(names, expected);

    // A node in the same process that began in the same second need not wait.
    let nonces = Arc::new(Nonces::new(Window::default(), 10, signer.started()));
    let node = Verifier::of_one("crm", "mesh", signer.public_key(), nonces);
    let headers = map(&sealed);
    let call =
        IncomingCall { method: "POST", target_uri: TARGET, headers: &headers, body: Body::Bytes(BODY) };
    let opened = node.open(&call, env.now().seconds).unwrap();
    assert_eq!((opened.peer, opened.scope, opened.hop("weft-depth")), ("mesh", "tool:customers", Some("1")));
    assert_eq!(opened.key_id, signer.public_key().id());
}

#[tokio::test]
async fn two_seals_of_one_call_are_two_seals() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let mut client = client(&open(data.path(), &env));
    let first = client.sign(request()).await.unwrap().into_inner();
    let second = client.sign(request()).await.unwrap().into_inner();
    assert_ne!(first, second);
}

#[tokio::test]
async fn bad_input_names_its_field() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let client = client(&open(data.path(), &env));
    let check = async |field: &str, change: fn(&mut SignRequest)| {
        let mut bad = request();
        change(&mut bad);
        let fault = status::fault(&client.clone().sign(bad).await.unwrap_err());
        assert_eq!(fault.kind, Kind::Invalid);
        assert_eq!(fault.violations[0].field, field, "{fault}");
    };
    check("method", |r| r.method = "post".into()).await;
    check("targetUri", |r| r.target_uri = "/peer/invoke".into()).await;
    check("bodySha256", |r| r.body_sha256 = vec![0; 31]).await;
    check("bodySha256", |r| r.body_sha256.clear()).await;
    check("audience", |r| r.audience.clear()).await;
    check("scope", |r| r.scope = "tool:x\r\nweft-depth: 0".into()).await;
    check("covered[1]", |r| r.covered.push(header("Weft-Task", "1"))).await;
    check("covered[1]", |r| r.covered.push(header("weft-task", "a\nb"))).await;
    check("covered[1]", |r| r.covered.push(header("weft-scope", "all"))).await;
    check("covered[1]", |r| r.covered.push(header("weft-depth", "2"))).await;
    check("covered", |r| r.covered = (0..20).map(|n| header(&format!("weft-{n}"), "")).collect()).await;
}

#[tokio::test(start_paused = true)]
async fn a_known_nodes_call_is_accepted_once_and_every_refusal_reads_the_same() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::simulated(3));
    let (node, stranger) = (Key::from_seed(&[4; 32]), Key::from_seed(&[5; 32]));
    trust(data.path(), "crm", &node);
    let mut client = client(&open(data.path(), &env));
    tokio::time::advance(Duration::from_secs(2)).await;
    let now = env.now().seconds;

    let sealed = call_to_mesh(&node, now);
    let good = verify(&mut client, sealed.clone()).await.unwrap();
    assert_eq!(good, VerifyResponse { key_id: node.id().into(), scope: "message:send".into() });

    let mut twice = call_to_mesh(&node, now);
    twice.push(twice[2].clone());
    let refusals = [
        ("REPLAYED", sealed),
        ("UNKNOWN_KEY", call_to_mesh(&stranger, now)),
        ("STALE", call_to_mesh(&node, now - 301)),
        ("MALFORMED", twice),
        ("MISSING", Vec::new()),
    ];
    for (code, headers) in refusals {
        let fault = verify(&mut client, headers).await.unwrap_err();
        assert_eq!(fault, Fault::new(Kind::Unauthenticated, "the seal of this call was refused"), "{code}");
        let counted = format!("weft_signer_seals_refused_total{{code=\"{code}\"}} 1");
        assert!(env.metrics().render().contains(&counted), "{counted}");
    }
    assert!(env.metrics().render().contains("weft_signer_seals_accepted_total 1"));
}

#[tokio::test(start_paused = true)]
async fn a_seal_from_before_the_start_may_be_made_again() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::simulated(3));
    let node = Key::from_seed(&[4; 32]);
    trust(data.path(), "crm", &node);
    let mut client = client(&open(data.path(), &env));
    let started = env.now().seconds;
    let fault = verify(&mut client, call_to_mesh(&node, started)).await.unwrap_err();
    assert_eq!((fault.kind, fault.retry_after_ms), (Kind::Unavailable, Some(1_000)));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(verify(&mut client, call_to_mesh(&node, started + 1)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_node_with_both_kinds_of_key_may_not_fall_back_to_its_secret() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::simulated(3));
    let node = Key::from_seed(&[4; 32]);
    trust(data.path(), "crm", &node);
    let secret = Secret::from_bytes(&[6; 32]).unwrap();
    put_secret(data.path(), "crm.derived", &secret);
    put_secret(data.path(), "lan.derived", &secret);
    let mut client = client(&open(data.path(), &env));
    tokio::time::advance(Duration::from_secs(2)).await;
    let now = env.now().seconds;
    let derived = |node: &str| Key::derived(&format!("derived:{node}:mesh"), &secret, node, "mesh").unwrap();
    assert!(verify(&mut client, call_to_mesh(&derived("crm"), now)).await.is_err());
    assert!(env.metrics().render().contains("code=\"DOWNGRADE\""));
    assert!(verify(&mut client, call_to_mesh(&derived("lan"), now)).await.is_ok());
    assert!(verify(&mut client, call_to_mesh(&node, now)).await.is_ok());
}

#[tokio::test]
async fn the_key_set_is_public_and_nothing_more() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let signer = open(data.path(), &env);
    let json = client(&signer).jwks(JwksRequest {}).await.unwrap().into_inner().json;
    let set: serde_json::Value = serde_json::from_str(&json).unwrap();
    let keys = set["keys"].as_array().unwrap();
    let seals: Vec<_> = keys.iter().filter(|key| !is_for_cards(key)).map(|key| &key["kid"]).collect();
    assert_eq!((keys.len(), seals), (3, vec![&serde_json::json!(signer.public_key().id())]));
    assert!(keys.iter().all(|key| key.get("d").is_none()));
}

#[tokio::test]
async fn headers_that_no_http_call_can_have_are_named() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let mut client = client(&open(data.path(), &env));
    for (bad, field) in [(header("a b", ""), "headers[0].name"), (header("a", "b\nc"), "headers[0].value")] {
        let fault = verify(&mut client, vec![bad]).await.unwrap_err();
        assert_eq!((fault.kind, fault.violations[0].field.as_str()), (Kind::Invalid, field));
    }
    let many = (0..300).map(|_| header("a", "b")).collect();
    assert_eq!(verify(&mut client, many).await.unwrap_err().violations[0].field, "headers");
}

fn trust(data: &Path, node: &str, key: &Key) {
    put(data, &format!("peers/{node}.jwk"), &key.public().unwrap().to_jwk().to_string());
}

fn put_secret(data: &Path, name: &str, secret: &Secret) {
    put(data, &format!("secrets/{name}"), &secret.to_base64url());
}

fn put(data: &Path, name: &str, content: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = data.join("keys").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    let chmod =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    chmod(&path, 0o600);
    chmod(&data.join("keys"), 0o700);
}
