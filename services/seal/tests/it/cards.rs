//! Card signatures: made, checked, refused; whose count; vectors for other languages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use weft_seal::card::{
    Alg, CardFault, CardKey, CardPublicKey, CardSignature, Find, Header, KeySets, Look, Pins, canonical,
    is_for_cards, key_set, keys_in, sign, verify,
};
use weft_seal::{Key, PublicKey};

use crate::vectors::check;

const JKU: &str = "https://mesh.example/.well-known/jwks.json";

fn key(alg: Alg) -> CardKey {
    CardKey::from_seed(alg, &[7; 32]).unwrap()
}

fn card() -> Value {
    json!({
        "name": "Mesh \u{1f980} é", "description": "what it is for\n\"all\"", "version": "1.0.0",
        "supportedInterfaces": [
            {"url": "https://mesh.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {
            "streaming": true, "pushNotifications": false,
            "extensions": [{"uri": "urn:x", "description": "", "params": {"n": 1.5, "big": 1e21, "none": [], "z": null}}]
        },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "a.b", "name": "A", "description": "d", "tags": ["a"], "examples": []}],
    })
}

/// A signature whose protected header is this.
fn with_header(header: &Value) -> CardSignature {
    CardSignature { protected: URL_SAFE_NO_PAD.encode(header.to_string()), signature: "AA".into() }
}

#[test]
fn a_signed_card_verifies_by_its_key_and_any_change_is_found() {
    let bytes = canonical(&card()).unwrap();
    for alg in Alg::ALL {
        let key = key(alg);
        let signature = sign(&key, &bytes, JKU);
        assert_eq!(signature, sign(&key, &bytes, JKU), "the same card has the same signature");
        assert_eq!(verify(&key.public(), &bytes, &signature), Ok(()));
        let header = Header::read(&signature.protected).unwrap();
        assert_eq!(header, Header { alg, kid: key.id().into(), jku: Some(JKU.into()) });

        let mut tampered = card();
        tampered["supportedInterfaces"][0]["url"] = json!("https://evil.example/a2a");
        let tampered = canonical(&tampered).unwrap();
        assert_eq!(verify(&key.public(), &tampered, &signature), Err(CardFault::Signature));
        let other = sign(&key, &bytes, "https://mesh.example/other.json");
        let mixed = CardSignature { protected: other.protected, ..signature.clone() };
        assert_eq!(
            verify(&key.public(), &bytes, &mixed),
            Err(CardFault::Signature),
            "the header is signed too"
        );
        let stranger = CardKey::from_seed(alg, &[8; 32]).unwrap();
        assert_eq!(verify(&stranger.public(), &bytes, &signature), Err(CardFault::UnknownKey));
    }
}

#[test]
fn only_the_two_algorithms_are_taken_and_each_only_with_its_own_kind_of_key() {
    let kid = key(Alg::Es256).id().to_owned();
    for alg in ["none", "HS256", "RS256", "es256", "ES256K", ""] {
        let signature = with_header(&json!({"alg": alg, "kid": kid}));
        assert_eq!(Header::read(&signature.protected), Err(CardFault::Algorithm), "{alg}");
        assert_eq!(verify(&key(Alg::Es256).public(), b"{}", &signature), Err(CardFault::Algorithm));
    }
    let confused = with_header(&json!({"alg": "EdDSA", "kid": kid}));
    assert_eq!(verify(&key(Alg::Es256).public(), b"{}", &confused), Err(CardFault::Algorithm));
}

#[test]
fn a_header_that_cannot_be_understood_is_refused() {
    for header in [
        json!({"alg": "ES256"}),
        json!({"alg": "ES256", "kid": "k", "crit": ["b64"], "b64": false}),
        json!({"kid": "k"}),
        json!(["ES256"]),
        json!({"alg": "ES256", "kid": 3}),
        json!({"alg": "ES256", "kid": "k".repeat(9_000)}),
    ] {
        let read = Header::read(&with_header(&header).protected);
        assert!(matches!(read, Err(CardFault::Header(_))), "{header}: {read:?}");
    }
    assert!(matches!(Header::read("+/+"), Err(CardFault::Header(_))));
}

#[test]
fn trust_comes_from_pins_and_allowed_places_never_from_the_card() {
    let mut pins = Pins::default();
    let header = |kid: &str, jku: Option<&str>| Header {
        alg: Alg::Es256,
        kid: kid.into(),
        jku: jku.map(str::to_owned),
    };
    assert_eq!(pins.find(&header("k", Some(JKU))), Err(CardFault::Untrusted), "nothing is trusted at first");
    pins.pin(key(Alg::Es256).public());
    pins.allow("https://Mesh.example").unwrap();
    pins.allow("http://127.0.0.1:8420").unwrap();
    let kid = key(Alg::Es256).id().to_owned();
    let pinned = Find::Pinned(&key(Alg::Es256).public())
        == pins.find(&header(&kid, Some("https://evil.example/k"))).unwrap();
    assert!(pinned, "a pinned key needs no place, whatever the card says of one");
    assert_eq!(pins.find(&header("k", Some(JKU))), Ok(Find::In(JKU.into())));
    for evil in [
        None,
        Some("https://evil.example/.well-known/jwks.json"),
        Some("https://mesh.example.evil.example/"),
        Some("https://mesh.example@evil.example/"),
        Some("https://evil.example/?https://mesh.example"),
        Some("http://mesh.example/.well-known/jwks.json"),
        Some("https://mesh.example:8443/"),
        Some("http://127.0.0.1:9999/"),
        Some("file:///etc/passwd"),
        Some("mesh.example"),
    ] {
        assert_eq!(pins.find(&header("k", evil)), Err(CardFault::Untrusted), "{evil:?}");
    }
    for bad in ["mesh.example", "http://mesh.example", "ftp://mesh.example", "https://u@mesh.example"] {
        assert!(pins.allow(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_flood_of_unknown_keys_leads_to_one_fetch_and_a_rotated_key_is_found_after_the_cool_down() {
    let (old, new) = (key(Alg::Es256).public(), CardKey::from_seed(Alg::Es256, &[8; 32]).unwrap().public());
    let mut sets = KeySets::default();
    assert_eq!(sets.look(JKU, old.id(), 0), Look::Fetch);
    sets.put(JKU, vec![old.clone()], 0);
    assert_eq!(sets.look(JKU, old.id(), 1), Look::Key(&old));
    let fetches = (0..1_000).filter(|n| sets.look(JKU, &format!("random{n}"), 2) == Look::Fetch).count();
    assert_eq!(fetches, 0);
    assert_eq!(sets.look(JKU, new.id(), 59), Look::Unknown);
    assert_eq!(sets.look(JKU, new.id(), 60), Look::Fetch);
    sets.put(JKU, vec![old.clone(), new.clone()], 60);
    assert_eq!(sets.look(JKU, new.id(), 61), Look::Key(&new));
    assert_eq!(sets.look(JKU, old.id(), 60 + 3_600), Look::Fetch, "a withdrawn key is found out");
    sets.failed(JKU, 4_000);
    assert_eq!(sets.look(JKU, old.id(), 4_001), Look::Unknown);
    for n in 0..1_000 {
        sets.put(&format!("https://mesh.example/{n}"), vec![], 5_000 + n);
    }
    assert_eq!(sets.look("https://mesh.example/0", "k", 5_001), Look::Fetch, "it made room for others");
}

#[test]
fn the_key_set_says_which_keys_are_for_cards_and_reads_back() {
    let hop: PublicKey = Key::from_seed(&[1; 32]).public().unwrap();
    let cards: Vec<CardPublicKey> = Alg::ALL.map(|alg| key(alg).public()).to_vec();
    let set = key_set([&hop], &cards);
    let purposes: Vec<_> = set["keys"].as_array().unwrap().iter().map(is_for_cards).collect();
    assert_eq!(purposes, [false, true, true]);
    let read = keys_in(&set.to_string()).unwrap();
    assert_eq!(read[1..], cards[..]);
    assert!(!set.to_string().contains("\"d\""));
    for bad in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[{"kty":"OKP","d":"x"}]}"#] {
        assert!(keys_in(bad).is_err(), "{bad}");
    }
    let many = json!({"keys": vec![json!({"kty": "RSA"}); 65]});
    assert!(keys_in(&many.to_string()).is_err() && keys_in(&" ".repeat(70_000)).is_err());
    assert_eq!(keys_in(r#"{"keys":[{"kty":"RSA","n":"x"}]}"#), Ok(vec![]));
}

#[test]
fn card_vectors_are_current() {
    let bytes = canonical(&card()).unwrap();
    let cases = Alg::ALL.map(|alg| {
        let key = key(alg);
        let CardSignature { protected, signature } = sign(&key, &bytes, JKU);
        json!({
            "alg": alg.name(), "private_pem": key.to_pem().as_str(), "public_jwk": key.public().to_jwk(),
            "protected": protected, "signature": signature,
        })
    });
    let canonical = String::from_utf8(bytes).unwrap();
    check("cards.json", &json!({"card": card(), "canonical": canonical, "jku": JKU, "signatures": cases}));
}
