//! Laws that hold for every call, not only for the ones we thought of.

use http::{HeaderName, HeaderValue};
use proptest::prelude::*;
use weft_seal::{Call, Mode, digest, seal};

use crate::world::{Arrived, MODES, NOW, key, verifier};

/// Printable ASCII without spaces at the ends.
const PLAIN: &str = "[!-~]([ -~]{0,30}[!-~])?";

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(MODES.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_can_be_sealed_can_be_opened_and_says_the_same(
        mode in mode(),
        method in "[A-Z]{1,10}",
        path in "(/[!-\"$-~]{0,20}){0,3}",
        body in prop::collection::vec(any::<u8>(), 0..200),
        scope in PLAIN,
        depth in PLAIN,
        created in NOW - 300..=NOW + 30,
        nonce in any::<[u8; 16]>(),
    ) {
        let target_uri = format!("http://crm.example{path}");
        let hop = [("weft-depth", depth.as_str())];
        let body_sha256 = digest(&body);
        let call = Call { method: &method, target_uri: &target_uri, body_sha256, audience: "crm", scope: &scope, hop: &hop };
        let headers = seal(&key(mode), &call, created, &nonce).unwrap().into_iter().collect();
        let arrived = Arrived { method, target_uri, body, headers };
        let verifier = verifier();
        let opened = verifier.open(&arrived.call(), NOW).unwrap();
        prop_assert_eq!((opened.mode, opened.scope, opened.created), (mode, scope.as_str(), created));
        prop_assert_eq!(opened.hop, hop);
    }

    #[test]
    fn a_change_of_any_one_byte_is_refused(mode in mode(), place in any::<prop::sample::Index>(), to in any::<u8>()) {
        let good = Arrived::sealed(&key(mode), NOW);
        // Everything that was sent and has a meaning, end to end.
        let sealed: Vec<HeaderName> =
            good.headers.keys().filter(|name| *name != "host" && *name != "content-type").cloned().collect();
        let lengths = sealed.iter().map(|name| good.headers[name].len());
        let total = good.method.len() + good.target_uri.len() + good.body.len() + lengths.sum::<usize>();
        let mut at = place.index(total);

        let mut changed = good.clone();
        let mut untouched = true;
        let mut change = |bytes: &[u8]| {
            let here = untouched && at < bytes.len();
            let mut bytes = bytes.to_vec();
            if here {
                untouched = false;
                bytes[at] = to;
            } else if untouched {
                at -= bytes.len();
            }
            bytes
        };
        let method = String::from_utf8(change(good.method.as_bytes()));
        let target_uri = String::from_utf8(change(good.target_uri.as_bytes()));
        changed.body = change(&good.body);
        for name in &sealed {
            match HeaderValue::from_bytes(&change(good.headers[name].as_bytes())) {
                Ok(value) => changed.headers.insert(name, value),
                Err(_) => return Ok(()), // such a header cannot arrive
            };
        }
        let (Ok(method), Ok(target_uri)) = (method, target_uri) else { return Ok(()) };
        changed.method = method;
        changed.target_uri = target_uri;

        let same = changed.method == good.method
            && weft_seal::target::canonical(&changed.target_uri) == weft_seal::target::canonical(&good.target_uri)
            && changed.body == good.body
            && changed.headers == good.headers;
        prop_assert_eq!(changed.outcome().is_ok(), same, "{:?}", changed);
    }

    #[test]
    fn garbage_in_the_headers_never_panics_and_never_passes(
        input in "(weft=)?[ -~]{0,200}",
        signature in "(weft=:)?[ -~]{0,120}",
        raw in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut call = Arrived::sealed(&key(Mode::Ed25519), NOW);
        call.set("signature-input", &input);
        prop_assert!(call.outcome().is_err());
        let mut call = Arrived::sealed(&key(Mode::Ed25519), NOW);
        call.set("signature", &signature);
        prop_assert!(call.outcome().is_err());
        if let Ok(value) = HeaderValue::from_bytes(&raw) {
            let mut call = Arrived::sealed(&key(Mode::Ed25519), NOW);
            call.headers.insert("content-digest", value);
            prop_assert!(call.outcome().is_err());
        }
    }
}
