//! No input, however broken, does more than be refused; and what is taken can always be given back.

use proptest::prelude::*;
use prost::Message as _;
use weft_proto::a2a::{AgentCard, SendMessageRequest, StreamResponse};
use weft_proto::json;
use weft_proto::weft::TaskEvent;

const SEND: &str = r#"{"tenant":"","message":{"messageId":"m-1","contextId":"c","role":"ROLE_USER","parts":[{"text":"h\u00e9\n"},
    {"data":{"n":[1,-2.5e3,9007199254740993,null,true],"o":{"k":{}}},"mediaType":"application/json"},{"raw":"AAEC_-8","filename":"f"}],
    "metadata":{"skillId":"a.b"},"extensions":["x"]},"configuration":{"historyLength":"3","returnImmediately":true},"future":[{}]}"#;

/// Whatever the bytes are: an answer, and if it is a message, one that can be written, read and sent.
fn feed(bytes: &[u8]) {
    if let Ok(message) = json::decode::<SendMessageRequest>(bytes) {
        let text = json::encode(&message).expect("what was read can be written");
        assert_eq!(json::decode::<SendMessageRequest>(&text).expect("own text reads"), message);
        assert_eq!(
            SendMessageRequest::decode(message.encode_to_vec().as_slice()).expect("own bytes decode"),
            message
        );
        assert_eq!(json::check(&message), Ok(()));
    }
    let _ = json::decode::<AgentCard>(bytes);
    let _ = json::decode::<StreamResponse>(bytes);
    let _ = json::decode::<TaskEvent>(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        feed(&bytes);
    }

    #[test]
    fn arbitrary_json_like_text_does_no_harm(text in r#"([\[\]{}:,"\\]|[0-9eE.+-]{1,5}|null|true|"(message|parts|data|text|role|raw)"|\\u[0-9a-f]{4}){0,60}"#) {
        feed(text.as_bytes());
    }

    #[test]
    fn a_good_document_with_broken_bytes_does_no_harm(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..4),
    ) {
        let mut bytes = SEND.replace("9007199254740993", "9007199254740992").into_bytes();
        for (index, byte, edit) in edits {
            let at = index.index(bytes.len());
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"{}[]\",:0-e\\"[usize::from(byte) % 11]),
                _ => drop(bytes.drain(at..(at + usize::from(byte) % 20).min(bytes.len()))),
            }
            if bytes.is_empty() { break; }
        }
        feed(&bytes);
    }

    #[test]
    fn every_number_is_kept_exactly_or_refused(digits in r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?") {
        let text = format!(r#"{{"metadata":{{"n":{digits}}}}}"#);
        match json::decode::<SendMessageRequest>(text.as_bytes()) {
            Ok(message) => {
                let object = message.metadata.expect("metadata was given");
                let number = object.get("n").and_then(|n| n.as_f64()).expect("a number was given");
                // The same digits again, up to where the point stands.
                let (mine, theirs) = (significant(&digits), significant(&written(number)));
                prop_assert_eq!(mine, theirs);
            }
            Err(fault) => {
                prop_assert_eq!(fault.path.as_str(), "metadata.n");
                let number: f64 = digits.parse().expect("a number to Rust too");
                prop_assert!(number.is_infinite() || significant(&digits) != significant(&written(number)), "{}", fault);
            }
        }
    }
}

/// As JSON has it. Of two shortest texts of one double (`….2` and `….3` beside `….25`) writers choose differently.
fn written(number: f64) -> String {
    serde_json::to_string(&number).unwrap_or_default()
}

/// The digits that count, without the sign, the point and the exponent.
fn significant(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[test]
fn the_document_that_is_broken_is_itself_read_but_for_its_number() {
    let fault = json::decode::<SendMessageRequest>(SEND.as_bytes()).expect_err("one number is not a double");
    assert_eq!(fault.path, "message.parts[1].data.n[2]");
    feed(SEND.as_bytes());
    assert!(json::decode::<SendMessageRequest>(SEND.replace("740993", "740992").as_bytes()).is_ok());
}
