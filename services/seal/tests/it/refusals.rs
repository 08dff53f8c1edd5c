//! Each way in which a seal can be wrong has its own reason.

use weft_seal::SealFault::{self, Algorithm, Digest, Future, Signature, Stale, UnknownKey, WrongAudience};
use weft_seal::{Key, Mode, Secret, Trust};

use crate::world::{Arrived, HOP, MODES, NOW, key, verifier};

fn good() -> Arrived {
    Arrived::sealed(&key(Mode::Ed25519), NOW)
}

/// Seals the usual call, changes it, and names the code of the refusal.
fn check(code: &str, change: impl Fn(&mut Arrived)) {
    for mode in MODES {
        let mut call = Arrived::sealed(&key(mode), NOW);
        change(&mut call);
        assert_eq!(call.outcome().unwrap_err().code(), code, "{mode}: {call:?}");
    }
}

#[test]
fn a_good_seal_tells_who_what_and_along_which_path() {
    for mode in MODES {
        let call = Arrived::sealed(&key(mode), NOW - 5);
        let verifier = verifier();
        let opened = verifier.open(&call.call(), NOW).unwrap();
        assert_eq!((opened.peer, opened.mode, opened.scope), (mode.as_str(), mode, "tool:customers"));
        assert_eq!((opened.key_id, opened.created), (key(mode).id(), NOW - 5));
        assert_eq!(opened.hop, HOP);
        assert_eq!((opened.hop("weft-depth"), opened.hop("weft-scope")), (Some("1"), None));
    }
}

#[test]
fn a_call_without_a_body_or_hop_headers_can_be_sealed_too() {
    let mut call = Arrived::sealed_as(&key(Mode::Ed25519), NOW, "crm", "about", &[]);
    assert_eq!(call.outcome(), Ok(()));
    call.body.clear();
    assert_eq!(call.outcome(), Err(Digest));
}

#[test]
fn the_window_is_exact_to_the_second() {
    for mode in MODES {
        let outcome = |created| Arrived::sealed(&key(mode), created).outcome();
        assert_eq!(outcome(NOW - 300), Ok(()));
        assert_eq!(outcome(NOW - 301), Err(Stale));
        assert_eq!(outcome(NOW + 30), Ok(()));
        assert_eq!(outcome(NOW + 31), Err(Future));
        assert_eq!(outcome(NOW * 1000), Err(Future), "milliseconds");
        assert_eq!(outcome(0), Err(Stale));
        assert_eq!(outcome(-NOW), Err(Stale));
        // Beyond the 15 digits of a structured field.
        assert_eq!(outcome(i64::MAX).unwrap_err().code(), "MALFORMED");
        assert_eq!(outcome(i64::MIN).unwrap_err().code(), "MALFORMED");
    }
}

#[test]
fn another_body_method_path_or_query_is_refused() {
    check("DIGEST", |call| call.body.push(b' '));
    check("DIGEST", |call| call.body = br#"{"tool":"delete","arguments":{}}"#.to_vec());
    check("SIGNATURE", |call| call.method = "PUT".to_owned());
    check("SIGNATURE", |call| call.target_uri = call.target_uri.replace("invoke", "relay"));
    check("SIGNATURE", |call| call.target_uri = call.target_uri.replace("trace=1", "trace=2"));
    check("SIGNATURE", |call| call.target_uri = call.target_uri.replace("http:", "https:"));
    check("SIGNATURE", |call| call.target_uri = call.target_uri.replace("8431", "8432"));
    check("MALFORMED", |call| call.target_uri = "/peer/invoke?trace=1".to_owned());
    check("MALFORMED", |call| call.method = "POST\n\"@target-uri\": x".to_owned());
}

#[test]
fn a_digest_made_to_fit_another_body_does_not_help() {
    check("SIGNATURE", |call| {
        call.body.push(b' ');
        let call_to_other_body = weft_seal::Call {
            method: "POST",
            target_uri: &call.target_uri,
            body_sha256: weft_seal::digest(&call.body),
            audience: "crm",
            scope: "tool:customers",
            hop: &[],
        };
        let forged = weft_seal::seal(&Key::from_seed(&[2; 32]), &call_to_other_body, NOW, &[0; 16]).unwrap();
        let (name, digest) = forged[0].clone();
        call.headers.insert(name, digest);
    });
}

#[test]
fn every_missing_header_is_missed() {
    for name in
        ["content-digest", "weft-audience", "weft-scope", "signature-input", "signature", "weft-depth"]
    {
        check("MISSING", |call| {
            call.headers.remove(name);
        });
    }
    check("MISSING", |call| call.headers.clear());
}

#[test]
fn a_header_that_is_there_twice_is_refused_even_with_the_same_value() {
    let names = [
        "content-digest",
        "weft-audience",
        "weft-scope",
        "signature-input",
        "signature",
        "traceparent",
        "weft-depth",
    ];
    for name in names {
        check("MALFORMED", |call| {
            let same = call.headers[name].clone();
            call.headers.append(http::HeaderName::from_static(name), same);
        });
    }
}

#[test]
fn no_component_may_be_left_out_of_the_signature() {
    for name in [
        "@method",
        "@target-uri",
        "content-digest",
        "weft-audience",
        "weft-scope",
        "traceparent",
        "weft-depth",
    ] {
        check("UNCOVERED", |call| {
            let input = call.text("signature-input");
            let without = input.replace(&format!("\"{name}\" "), "").replace(&format!(" \"{name}\""), "");
            assert_ne!(without, input);
            call.set("signature-input", without);
        });
    }
}

#[test]
fn hop_headers_slipped_in_after_sealing_are_refused() {
    for name in ["weft-remaining", "weft-owner", "tracestate"] {
        check("UNCOVERED", |call| call.set(name, "x"));
    }
    check("SIGNATURE", |call| call.set("weft-depth", "0"));
    check("SIGNATURE", |call| call.set("weft-ancestors", ""));
    check("SIGNATURE", |call| call.set("traceparent", "00-0-0-00"));
    let mut call = good();
    call.set("accept", "text/event-stream");
    call.set("content-type", "text/plain");
    assert_eq!(call.outcome(), Ok(()), "what has no meaning between nodes may change");
}

#[test]
fn swapped_and_injected_values_are_refused() {
    check("WRONG_AUDIENCE", |call| {
        let (audience, scope) = (call.text("weft-audience"), call.text("weft-scope"));
        call.set("weft-audience", scope);
        call.set("weft-scope", audience);
    });
    check("SIGNATURE", |call| {
        call.set("weft-depth", "mesh");
        call.set("weft-ancestors", "1");
    });
    check("SIGNATURE", |call| {
        let input = call.text("signature-input");
        call.set(
            "signature-input",
            input.replace("\"@method\" \"@target-uri\"", "\"@target-uri\" \"@method\""),
        );
    });
    check("MALFORMED", |call| call.set("weft-scope", "tool:customers\t"));
    check("MALFORMED", |call| call.set("weft-scope", "tool:customers "));
    check("MALFORMED", |call| call.set("weft-scope", ""));
    check("MALFORMED", |call| call.set("weft-scope", "tool:\u{e9}"));
    check("MALFORMED", |call| call.set("weft-depth", "1".repeat(2049)));
    check("MALFORMED", |call| call.set("weft-depth", " 1"));
    check("MALFORMED", |call| {
        let input = call.text("signature-input");
        call.set("signature-input", format!("{input}, other=()"));
    });
}

#[test]
fn a_seal_for_one_node_is_no_seal_for_another() {
    for audience in ["lan", "CRM", "crm2", "crm crm"] {
        let call = Arrived::sealed_as(&key(Mode::Ed25519), NOW, audience, "tool:customers", HOP);
        assert_eq!(call.outcome(), Err(WrongAudience));
    }
}

#[test]
fn changed_parameters_break_the_signature() {
    let swap = |from: &'static str, to: &'static str| {
        move |call: &mut Arrived| {
            let input = call.text("signature-input");
            let changed = input.replace(from, to);
            assert_ne!(changed, input);
            call.set("signature-input", changed);
        }
    };
    check("SIGNATURE", swap("created=1800000000", "created=1799999999"));
    check("SIGNATURE", swap("nonce=\"M", "nonce=\"N"));
    check("UNKNOWN_KEY", swap("keyid=\"", "keyid=\"x"));
    check("MALFORMED", swap("tag=\"weft-hop-v1\"", "tag=\"weft-hop-v2\""));
    check("MISSING", swap(";tag=\"weft-hop-v1\"", ""));
}

#[test]
fn unknown_keys_foreign_signatures_and_cut_signatures_are_refused() {
    let stranger = Key::from_seed(&[2; 32]);
    assert_eq!(Arrived::sealed(&stranger, NOW).outcome(), Err(UnknownKey));
    check("SIGNATURE", |call| {
        let other = Arrived::sealed(&Key::from_seed(&[2; 32]), NOW);
        call.set("signature", other.text("signature"));
    });
    check("SIGNATURE", |call| call.set("signature", "weft=:AAAA:"));
    check("SIGNATURE", |call| call.set("signature", "weft=::"));
    check("MALFORMED", |call| call.set("signature", format!("weft=:{}:", "A".repeat(1_000_000))));
}

#[test]
fn an_hmac_under_a_public_key_is_not_a_signature() {
    // The classic confusion: the attacker knows the public key and uses it as an HMAC secret under its key id.
    let public = key(Mode::Ed25519).public().unwrap();
    let secret = Secret::from_bytes(public.to_base64url().as_bytes()).unwrap();
    let forged = Key::shared(public.id(), &secret).unwrap();
    let mut call = Arrived::sealed(&forged, NOW);
    assert_eq!(call.outcome(), Err(Algorithm));
    call.set("signature-input", call.text("signature-input").replace("hmac-sha256", "ed25519"));
    assert_eq!(call.outcome(), Err(Signature));
}

#[test]
fn a_weaker_key_of_the_same_peer_is_a_downgrade_though_its_signature_is_right() {
    let mut trust = Trust::new();
    for mode in MODES {
        trust.add("mesh", &key(mode)).unwrap();
    }
    let nonces = weft_seal::Nonces::new(weft_seal::Window::default(), 9, NOW - 10);
    let verifier = weft_seal::Verifier::new("crm", trust, std::sync::Arc::new(nonces));
    let open = |mode| {
        let call = Arrived::sealed(&key(mode), NOW);
        verifier.open(&call.call(), NOW).map(|_| ())
    };
    for used in [Mode::Shared, Mode::Derived] {
        assert_eq!(open(used), Err(SealFault::Downgrade { required: Mode::Ed25519, used }));
    }
    assert_eq!(open(Mode::Ed25519), Ok(()));
}

#[test]
fn a_key_for_one_direction_does_not_work_for_the_other() {
    let secret = Secret::from_bytes(&[9; 32]).unwrap();
    let back = Key::derived("derived:mesh:crm", &secret, "crm", "mesh").unwrap();
    assert_eq!(Arrived::sealed(&back, NOW).outcome(), Err(Signature));
}
