//! HTTP+JSON: whatever path, query and body are, the answer is HTTP, comes in time, is JSON when it says so, and a
//! refusal says why in the shape of its protocol version.

#![no_main]

use axum::body::Body;
use http::{Method, Request, Uri};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let line_end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (path, body) = (&rest[..line_end], rest.get(line_end + 1..).unwrap_or_default());
    let Ok(path) = std::str::from_utf8(path) else { return };
    let Ok(uri) = format!("/rest/{path}").parse::<Uri>() else { return };
    let method = [Method::GET, Method::POST, Method::DELETE, Method::PUT][usize::from(kind & 3)].clone();
    let mut request = Request::builder().method(method).uri(uri);
    match (kind >> 2) & 3 {
        0 => request = request.header("a2a-version", "1.0"),
        1 => request = request.header("a2a-version", "0.3"),
        2 => request = request.header("content-type", "application/a2a+json"),
        _ => {}
    }
    let answer = fuzz::send(request.body(Body::from(body.to_vec())).expect("a request"));
    assert_ne!(answer.status.as_u16(), 500, "{answer:?}");
    if !answer.media_type.contains("json") && !answer.is_stream() {
        return;
    }
    let documents = answer.documents();
    if answer.status.as_u16() >= 400 {
        let refusal = documents.first().unwrap_or_else(|| panic!("no reason: {answer:?}"));
        let told = match refusal.get("error") {
            Some(error) => {
                assert_eq!(error["code"], answer.status.as_u16(), "{answer:?}");
                error
            }
            // v0.3 has the code of JSON-RPC, and no object around it.
            None => {
                assert!(refusal["code"].as_i64().is_some_and(|code| code < 0), "{answer:?}");
                refusal
            }
        };
        assert!(told["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer:?}");
    }
});
