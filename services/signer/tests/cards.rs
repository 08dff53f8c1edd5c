//! Card signatures from the signer: what is signed, by which keys, and how these follow one another.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use weft_chassis::{Env, Peer, peer, status};
use weft_core::Kind;
use weft_proto::a2a::{AgentCard, AgentCardSignature};
use weft_proto::json;
use weft_proto::weft::signer_client::SignerClient;
use weft_proto::weft::{JwksRequest, SignCardRequest};
use weft_seal::card::{Alg, CardKey, CardPublicKey, CardSignature, Header, canonical, keys_in, verify};
use weft_signer::{Settings, Signer};

const JKU: &str = "https://mesh.example/.well-known/jwks.json";

fn client(settings: &Settings, data: &Path) -> SignerClient<Peer> {
    SignerClient::new(peer::local(Signer::open(settings, data, &Env::system()).unwrap().routes()))
}

fn card() -> AgentCard {
    AgentCard { name: "Mesh".into(), version: "1".into(), ..AgentCard::default() }
}

fn request(card: AgentCard) -> SignCardRequest {
    SignCardRequest { card: Some(card), jku: JKU.into() }
}

async fn signed(client: &mut SignerClient<Peer>) -> Vec<CardSignature> {
    let signatures = client.sign_card(request(card())).await.unwrap().into_inner().signatures;
    signatures.into_iter().map(|s| CardSignature { protected: s.protected, signature: s.signature }).collect()
}

async fn published(client: &mut SignerClient<Peer>) -> Vec<CardPublicKey> {
    keys_in(&client.jwks(JwksRequest {}).await.unwrap().into_inner().json).unwrap()
}

/// Whether each signature verifies by a key of the set.
fn verified(signatures: &[CardSignature], keys: &[CardPublicKey]) -> Vec<bool> {
    let bytes =
        canonical(&serde_json::from_slice::<Value>(&json::encode(&card()).unwrap()).unwrap()).unwrap();
    let by = |signature: &CardSignature| {
        let header = Header::read(&signature.protected).unwrap();
        keys.iter().any(|key| key.id() == header.kid && verify(key, &bytes, signature).is_ok())
    };
    signatures.iter().map(by).collect()
}

/// Puts a pair of keys in place as if it had been made so many days ago.
fn made_days_ago(data: &Path, days: i64) {
    let dir = data.join("keys/cards");
    fs::create_dir_all(&dir).unwrap();
    for private in [data.join("keys"), dir.clone()] {
        fs::set_permissions(private, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let made = Env::system().now().seconds - days * 86_400;
    for (alg, suffix) in [(Alg::Es256, "es256"), (Alg::EdDsa, "ed25519")] {
        // By the days, not by the second: pairs of one age are one pair.
        let mut seed = [1; 32];
        seed[..8].copy_from_slice(&days.to_be_bytes());
        let path = dir.join(format!("{made}.{suffix}.pem"));
        fs::write(&path, CardKey::from_seed(alg, &seed).unwrap().to_pem().as_bytes()).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

#[tokio::test]
async fn a_card_is_signed_by_both_kinds_of_keys_of_the_key_set_and_alike_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let mut first = client(&Settings::default(), data.path());
    let signatures = signed(&mut first).await;
    let algorithms: Vec<_> = signatures.iter().map(|s| Header::read(&s.protected).unwrap().alg).collect();
    assert_eq!(algorithms, Alg::ALL);
    assert_eq!(verified(&signatures, &published(&mut first).await), [true, true]);
    assert_eq!(signed(&mut client(&Settings::default(), data.path())).await, signatures);
    for file in fs::read_dir(data.path().join("keys/cards")).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn signatures_that_are_on_a_card_already_change_nothing() {
    let data = tempfile::tempdir().unwrap();
    let mut signer = client(&Settings::default(), data.path());
    let plain = signer.sign_card(request(card())).await.unwrap().into_inner();
    let strange = AgentCardSignature { protected: "x".into(), signature: "y".into(), header: None };
    let again = signer.sign_card(request(AgentCard { signatures: vec![strange], ..card() })).await;
    assert_eq!(again.unwrap().into_inner(), plain);
}

#[tokio::test]
async fn an_old_pair_is_followed_by_a_new_one_and_stays_in_the_key_set_for_the_overlap() {
    let settings = Settings { card_key_rotate_days: 90, card_key_overlap_days: 30, ..Settings::default() };
    let data = tempfile::tempdir().unwrap();
    made_days_ago(data.path(), 89);
    let mut signer = client(&settings, data.path());
    let before = signed(&mut signer).await;
    assert_eq!(published(&mut signer).await.len(), 1 + 2, "the mesh's own key and one pair");

    let data = tempfile::tempdir().unwrap();
    made_days_ago(data.path(), 91);
    let old =
        signed(&mut client(&Settings { card_key_rotate_days: 0, ..settings.clone() }, data.path())).await;
    let mut rotated = client(&settings, data.path());
    let new = signed(&mut rotated).await;
    let keys = published(&mut rotated).await;
    assert!(old != new && old != before);
    assert_eq!((verified(&new, &keys), verified(&old, &keys)), (vec![true, true], vec![true, true]));
}

#[tokio::test]
async fn after_the_overlap_only_the_newer_pair_is_published() {
    let settings = Settings { card_key_rotate_days: 0, card_key_overlap_days: 30, ..Settings::default() };
    let data = tempfile::tempdir().unwrap();
    made_days_ago(data.path(), 200);
    let old = signed(&mut client(&settings, data.path())).await;
    for (days, expected) in [(29, vec![true, true]), (31, vec![false, false])] {
        let data = tempfile::tempdir().unwrap();
        made_days_ago(data.path(), 200);
        made_days_ago(data.path(), days);
        let mut signer = client(&settings, data.path());
        let (new, keys) = (signed(&mut signer).await, published(&mut signer).await);
        assert_eq!((verified(&new, &keys), verified(&old, &keys)), (vec![true, true], expected), "{days}");
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_signed_names_the_field() {
    let data = tempfile::tempdir().unwrap();
    let mut signer = client(&Settings::default(), data.path());
    for (request, field) in [
        (SignCardRequest { card: None, jku: JKU.into() }, "card"),
        (SignCardRequest { jku: String::new(), ..request(card()) }, "jku"),
        (SignCardRequest { jku: "file:///etc/keys".into(), ..request(card()) }, "jku"),
        (SignCardRequest { jku: "https://a b".into(), ..request(card()) }, "jku"),
    ] {
        let fault = status::fault(&signer.sign_card(request).await.unwrap_err());
        assert_eq!((fault.kind, fault.violations[0].field.as_str()), (Kind::Invalid, field));
    }
}

#[test]
fn a_strange_open_or_damaged_card_key_refuses_the_start_and_is_named() {
    let fails = |name: &str, content: &[u8], mode: u32, parts: &[&str]| {
        let data = tempfile::tempdir().unwrap();
        made_days_ago(data.path(), 1);
        let path = data.path().join("keys/cards").join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let said = Signer::open(&Settings::default(), data.path(), &Env::system()).err().unwrap().to_string();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    };
    fails("old.pem", b"", 0o600, &["old.pem", "SECONDS.es256.pem"]);
    fails("5.es256.pem", b"nonsense", 0o600, &["5.es256.pem", "pkcs#8"]);
    fails("5.es256.pem", b"nonsense", 0o644, &["5.es256.pem", "chmod"]);
}
