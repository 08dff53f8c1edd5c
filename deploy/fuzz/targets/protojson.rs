//! ProtoJSON: whatever the bytes are, reading them ends with a message or a fault that has a text; a message that was
//! read can be written, and what was written reads back and is written the same again. Messages are not compared, since
//! times are written to the millisecond.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use weft_proto::{a2a, json, weft, wkt};

fuzz_target!(|input: &[u8]| {
    let Some((kind, text)) = input.split_first() else { return };
    match kind % 8 {
        0 => round::<a2a::SendMessageRequest>(text),
        1 => round::<a2a::Task>(text),
        2 => round::<a2a::StreamResponse>(text),
        3 => round::<a2a::AgentCard>(text),
        4 => round::<a2a::ListTasksRequest>(text),
        5 => round::<a2a::TaskPushNotificationConfig>(text),
        6 => round::<weft::InvokeEvent>(text),
        _ => round::<wkt::Value>(text),
    }
});

fn round<T: Serialize + DeserializeOwned>(text: &[u8]) {
    let read: T = match json::decode(text) {
        Ok(read) => read,
        Err(fault) => {
            assert!(!fault.to_string().is_empty(), "a fault says nothing");
            return;
        }
    };
    let written = json::encode(&read).expect("what was read can be written");
    let again: T = json::decode(&written).expect("what was written can be read");
    let rewritten = json::encode(&again).expect("it was written before");
    assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&rewritten));
}
