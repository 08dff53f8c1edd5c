//! The vectors for other languages are current: what `vectors/` says is what this crate does.
//!
//! `WEFT_WRITE_VECTORS=1 cargo test -p weft-seal vectors` writes them anew.

use std::path::PathBuf;

use serde_json::{Value, json};
use weft_seal::{Mode, Secret};

use crate::world::{Arrived, HOP, MODES, NOW, key, verifier};

/// Compares a vector file with what it should hold, or writes it when asked to.
pub(crate) fn check(name: &str, current: &Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name);
    let text = format!("{current:#}\n");
    if std::env::var_os("WEFT_WRITE_VECTORS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == text, "{name} is not current: write it anew and look at the difference");
}

fn headers(call: &Arrived) -> Value {
    let own = |name: &str| name != "host" && name != "content-type";
    let pairs = call.headers.iter().filter(|(name, _)| own(name.as_str()));
    pairs.map(|(name, value)| json!([name.as_str(), value.to_str().unwrap()])).collect()
}

/// The signature base, put together here a second time from RFC 9421 §2.5 alone.
fn base(call: &Arrived) -> String {
    let input = call.text("signature-input");
    let params = input.strip_prefix("weft=").unwrap();
    let covered = &params[1..params.find(')').unwrap()];
    let lines = covered.split(' ').map(|quoted| {
        let value = match quoted.trim_matches('"') {
            "@method" => call.method.clone(),
            "@target-uri" => call.target_uri.clone(),
            name => call.text(name),
        };
        format!("{quoted}: {value}\n")
    });
    lines.collect::<String>() + "\"@signature-params\": " + params
}

fn request(call: &Arrived) -> Value {
    json!({
        "method": call.method,
        "target_uri": call.target_uri,
        "body": String::from_utf8(call.body.clone()).unwrap(),
        "headers": headers(call),
    })
}

/// The test keys; they are public and used nowhere else.
fn keys() -> Value {
    let secret = Secret::from_bytes(&[9; 32]).unwrap();
    let pair = key(Mode::Ed25519);
    json!({
        "ed25519": {"keyid": pair.id(), "private_pem": pair.to_pem().unwrap().as_str(), "public_jwk": pair.public().unwrap().to_jwk()},
        "derived": {"keyid": "derived:mesh:crm", "secret_base64url": secret.to_base64url().as_str(), "from": "mesh", "to": "crm"},
        "shared": {"keyid": "shared:mesh", "secret_base64url": secret.to_base64url().as_str()},
    })
}

#[test]
fn vectors_of_good_seals_are_current() {
    let mut seals = Vec::new();
    for mode in MODES {
        for (name, hop) in [("with hop headers", HOP), ("without hop headers", &[])] {
            let call = Arrived::sealed_as(&key(mode), NOW, "crm", "tool:customers", hop);
            let verifier = verifier();
            let opened = verifier.open(&call.call(), NOW).unwrap();
            seals.push(json!({
                "name": format!("{mode}, {name}"),
                "mode": mode.as_str(),
                "now": NOW,
                "request": request(&call),
                "signature_base": base(&call),
                "opened": {"peer": opened.peer, "key_id": opened.key_id, "scope": opened.scope},
            }));
        }
    }
    let about =
        "Seals that a receiver named crm accepts once, at the given time. nonce: the bytes 0123456789abcdef.";
    check("seals.json", &json!({"about": about, "keys": keys(), "seals": seals}));
}

#[test]
fn vectors_of_refusals_are_current() {
    let mut refusals = Vec::new();
    let mut add = |name: &str, created: i64, change: &dyn Fn(&mut Arrived)| {
        let mut call = Arrived::sealed(&key(Mode::Ed25519), created);
        change(&mut call);
        let code = call.outcome().unwrap_err().code();
        refusals.push(json!({"name": name, "now": NOW, "request": request(&call), "code": code}));
    };
    let swap = |call: &mut Arrived, from: &str, to: &str| {
        let changed = call.text("signature-input").replace(from, to);
        call.set("signature-input", changed);
    };
    add("one second too old", NOW - 301, &|_| ());
    add("one second too far ahead", NOW + 31, &|_| ());
    add("milliseconds", NOW * 1000, &|_| ());
    add("negative time", -1, &|_| ());
    add("changed body", NOW, &|call| call.body.push(b' '));
    add("changed method", NOW, &|call| call.method = "PUT".to_owned());
    add("changed path", NOW, &|call| call.target_uri = call.target_uri.replace("invoke", "relay"));
    add("changed query", NOW, &|call| call.target_uri = call.target_uri.replace("trace=1", "trace=2"));
    add("changed audience", NOW, &|call| call.set("weft-audience", "lan"));
    add("changed scope", NOW, &|call| call.set("weft-scope", "tool:delete"));
    add("changed depth", NOW, &|call| call.set("weft-depth", "0"));
    add("added hop header", NOW, &|call| call.set("weft-remaining", "all"));
    add("added tracestate", NOW, &|call| call.set("tracestate", "a=1"));
    add("scope not covered", NOW, &|call| swap(call, " \"weft-scope\"", ""));
    add("no signature", NOW, &|call| drop(call.headers.remove("signature")));
    add("no nonce", NOW, &|call| swap(call, ";nonce=\"MDEyMzQ1Njc4OWFiY2RlZg\"", ""));
    add("short nonce", NOW, &|call| swap(call, "MDEyMzQ1Njc4OWFiY2RlZg", "MDEyMzQ1Njc4OWF"));
    add("unknown key", NOW, &|call| swap(call, "keyid=\"", "keyid=\"x"));
    add("another algorithm", NOW, &|call| swap(call, "alg=\"ed25519\"", "alg=\"hmac-sha256\""));
    add("another profile", NOW, &|call| swap(call, "weft-hop-v1", "weft-hop-v0"));
    add("a second label", NOW, &|call| swap(call, "weft-hop-v1\"", "weft-hop-v1\", other=()"));
    let about = "Calls that a receiver named crm refuses at the given time, with the code of the reason. Keys: see seals.json.";
    check("refusals.json", &json!({"about": about, "refusals": refusals}));
}

#[test]
fn seals_made_by_another_library_are_accepted() {
    let file: Value = serde_json::from_str(include_str!("../../vectors/foreign.json")).unwrap();
    let now = file["now"].as_i64().unwrap();
    let seals = file["seals"].as_array().unwrap();
    assert_eq!(seals.len(), MODES.len());
    for seal in seals {
        let request = &seal["request"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut call = Arrived {
            method: text(&request["method"]),
            target_uri: text(&request["target_uri"]),
            body: text(&request["body"]).into_bytes(),
            headers: http::HeaderMap::new(),
        };
        for header in request["headers"].as_array().unwrap() {
            call.set(&text(&header[0]), text(&header[1]));
        }
        let verifier = verifier();
        let opened = verifier.open(&call.call(), now).unwrap();
        assert_eq!(opened.mode.as_str(), seal["mode"]);
    }
}
