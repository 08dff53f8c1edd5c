//! What JSON costs on the hot path: nanoseconds in and out, beside protobuf.

use divan::{Bencher, black_box, counter::BytesCount};
use prost::Message;
use serde::{Serialize, de::DeserializeOwned};
use weft_proto::a2a::{SendMessageRequest, Task};
use weft_proto::json;

/// A message as clients send it, 479 bytes.
const SEND: &str = r#"{"message":{"messageId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f57","contextId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f58","role":"ROLE_USER","parts":[{"text":"Which sectors moved most last week, and why?"},{"data":{"skill":"sector.movement","arguments":{"days":7,"limit":5,"threshold":0.25}},"mediaType":"application/json"}],"metadata":{"source":"bench","attempt":1}},"configuration":{"acceptedOutputModes":["text/plain","application/json"],"historyLength":10,"returnImmediately":false}}"#;

/// A finished task with one message and one artifact.
const TASK: &str = r#"{"id":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f59","contextId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f58","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-31T12:00:00.123Z"},"artifacts":[{"artifactId":"a1","name":"movement","parts":[{"data":{"rows":[{"sector":"energy","change":0.031},{"sector":"transport","change":-0.012},{"sector":"retail","change":0.004}],"total":3},"mediaType":"application/json"}]}],"history":[{"messageId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f57","taskId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f59","contextId":"018f7a2e-5c1d-7e3a-9b4f-2d6c8a1e0f58","role":"ROLE_USER","parts":[{"text":"Which sectors moved most last week, and why?"}]}]}"#;

fn main() {
    divan::main();
}

fn message<T: DeserializeOwned>(text: &str) -> T {
    json::decode(text.as_bytes()).expect("the sample is good")
}

fn json_in<T: DeserializeOwned>(bencher: Bencher<'_, '_>, text: &str) {
    bencher.counter(BytesCount::of_str(text)).bench(|| json::decode::<T>(black_box(text.as_bytes())));
}

fn json_out<T: DeserializeOwned + Serialize + Sync>(bencher: Bencher<'_, '_>, text: &str) {
    let message: T = message(text);
    bencher.counter(BytesCount::of_str(text)).bench(|| json::encode(black_box(&message)));
}

fn protobuf_in<T: DeserializeOwned + Message + Default>(bencher: Bencher<'_, '_>, text: &str) {
    let bytes = message::<T>(text).encode_to_vec();
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| T::decode(black_box(bytes.as_slice())));
}

#[divan::bench]
fn send_message_json_in(bencher: Bencher<'_, '_>) {
    json_in::<SendMessageRequest>(bencher, SEND);
}

#[divan::bench]
fn send_message_json_out(bencher: Bencher<'_, '_>) {
    json_out::<SendMessageRequest>(bencher, SEND);
}

#[divan::bench]
fn send_message_protobuf_in(bencher: Bencher<'_, '_>) {
    protobuf_in::<SendMessageRequest>(bencher, SEND);
}

/// A parser that knows no schema, for comparison.
#[divan::bench]
fn send_message_untyped_json_in(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::of_str(SEND))
        .bench(|| serde_json::from_str::<serde_json::Value>(black_box(SEND)));
}

#[divan::bench]
fn task_json_in(bencher: Bencher<'_, '_>) {
    json_in::<Task>(bencher, TASK);
}

#[divan::bench]
fn task_json_out(bencher: Bencher<'_, '_>) {
    json_out::<Task>(bencher, TASK);
}

#[divan::bench]
fn task_protobuf_in(bencher: Bencher<'_, '_>) {
    protobuf_in::<Task>(bencher, TASK);
}
