//! JSON-RPC: whatever the body is, the answer is HTTP, comes in time, and is a JSON-RPC object with either a result or
//! an error of a known code, under the id that was asked with; a notification has no answer.

#![no_main]

use axum::body::Body;
use http::{Request, StatusCode};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((kind, body)) = input.split_first() else { return };
    let path = if kind & 4 == 0 { "/a2a" } else { "/agents/play/a2a" };
    let mut request = Request::post(path).header("content-type", "application/json");
    match kind & 3 {
        0 => {}
        1 => request = request.header("a2a-version", "1.0"),
        2 => request = request.header("a2a-version", "0.3"),
        _ => request = request.header("a2a-version", "7.1"),
    }
    let answer = fuzz::send(request.body(Body::from(body.to_vec())).expect("a request"));
    if answer.status == StatusCode::NO_CONTENT {
        assert!(answer.text.is_empty(), "{answer:?}");
        return;
    }
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let asked = serde_json::from_slice::<Value>(body).ok();
    let documents = answer.documents();
    assert!(answer.is_stream() || documents.len() == 1, "{answer:?}");
    for document in documents {
        check(&document, asked.as_ref());
    }
});

fn check(answer: &Value, asked: Option<&Value>) {
    let object = answer.as_object().unwrap_or_else(|| panic!("no object: {answer}"));
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    assert_ne!(object.contains_key("result"), object.contains_key("error"), "{answer}");
    assert_eq!(object.len(), 3, "{answer}");
    // Numbers are compared as a double has them.
    let id = asked.and_then(|asked| asked.get("id"));
    assert!(answer["id"].is_null() || id == Some(&answer["id"]), "{answer} to {asked:?}");
    if let Some(error) = object.get("error") {
        let code = error["code"].as_i64().unwrap_or_else(|| panic!("no code: {answer}"));
        let known =
            [-32700, -32600, -32601, -32602, -32603].contains(&code) || (-32099..=-32000).contains(&code);
        assert!(known, "{answer}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
}
