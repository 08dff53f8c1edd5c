//! Signed cards.

use serde_json::{Value, json};
use weft_client::{Options, Signature};
use weft_seal::card::{Alg, CardKey, Pins, canonical, key_set, sign};

use crate::world::{Fake, answer, card, client, json_answer};

fn key(seed: u8) -> CardKey {
    CardKey::from_seed(Alg::Es256, &[seed; 32]).unwrap()
}

/// An agent that signs its card with this key and then, after `change`, serves it.
async fn signing(seed: u8, change: fn(&mut Value)) -> Fake {
    Fake::raw(move |seen, _, address| match seen.path.as_str() {
        "/.well-known/agent-card.json" => {
            let mut body = card(address, &[("JSONRPC".into(), "1.0".into())]);
            body["futureField"] = json!({ "x": 1 });
            let jku = format!("http://{address}/.well-known/jwks.json");
            let signature = sign(&key(seed), &canonical(&body).unwrap(), &jku);
            body["signatures"] =
                json!([{ "protected": signature.protected, "signature": signature.signature }]);
            change(&mut body);
            json_answer(200, &body)
        }
        "/.well-known/jwks.json" => json_answer(200, &key_set([], [&key(1).public()])),
        _ => answer(404, "text/plain", ""),
    })
    .await
}

async fn judged(fake: &Fake, pins: Pins) -> Signature {
    let client = client(Options { pins, ..Options::default() });
    let card = client.card(&fake.url()).await.unwrap();
    client.verify(&card).await
}

fn allowed(fake: &Fake) -> Pins {
    let mut pins = Pins::default();
    pins.allow(&fake.url()).unwrap();
    pins
}

#[tokio::test]
async fn a_card_counts_when_its_key_is_pinned_or_lies_at_an_allowed_place() {
    let fake = signing(1, |_| {}).await;
    let verified = Signature::Verified { key: key(1).id().to_owned() };
    let mut pinned = Pins::default();
    pinned.pin(key(1).public());
    assert_eq!(judged(&fake, pinned).await, verified);
    assert!(!fake.all().iter().any(|seen| seen.path.ends_with("jwks.json")), "a pinned key is not fetched");
    assert_eq!(judged(&fake, allowed(&fake)).await, verified);
    let fetched = fake.all().len();
    assert!(matches!(judged(&fake, Pins::default()).await, Signature::Failed(_)));
    assert_eq!(fake.all().len(), fetched + 1, "no key set is fetched because a card says so");
}

#[tokio::test]
async fn a_changed_card_a_strange_key_and_no_signature_are_told_apart() {
    let changed: fn(&mut Value) = |card| card["name"] = "somebody else".into();
    let unknown: fn(&mut Value) = |card| card["futureField"]["x"] = 2.into();
    for change in [changed, |card| card["skills"] = json!([{ "id": "more" }]), unknown] {
        let fake = signing(1, change).await;
        assert!(matches!(judged(&fake, allowed(&fake)).await, Signature::Failed(_)));
    }
    let strange = signing(2, |_| {}).await;
    assert!(matches!(judged(&strange, allowed(&strange)).await, Signature::Failed(_)));
    let unsigned = signing(1, |card| {
        card.as_object_mut().unwrap().remove("signatures");
    })
    .await;
    assert_eq!(judged(&unsigned, allowed(&unsigned)).await, Signature::Unsigned);
}
