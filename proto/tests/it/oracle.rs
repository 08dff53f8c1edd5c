//! Any message goes to JSON and back, to protobuf and back, and another implementation reads our JSON alike.
//!
//! The oracle is prost-reflect, as a reader. It is no oracle for what we refuse on purpose and it takes: numbers that a
//! double changes, nesting beyond our limit, a member given twice, unknown enum names.

mod strategy;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, Kind, MessageDescriptor};
use serde::{Serialize, de::DeserializeOwned};
use weft_proto::json;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).expect("our own descriptors decode")
});

fn pool() -> &'static DescriptorPool {
    &POOL
}

/// What a message type does with bytes of it: goes through protobuf and JSON and back, and gives the JSON.
type Through = fn(&[u8]) -> Result<String, TestCaseError>;

fn through<T>(bytes: &[u8]) -> Result<String, TestCaseError>
where
    T: prost::Message + Default + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let message = T::decode(bytes)?;
    prop_assert_eq!(&T::decode(message.encode_to_vec().as_slice())?, &message);

    let text = json::encode_string(&message).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
    let again: T =
        json::decode(text.as_bytes()).map_err(|fault| TestCaseError::fail(format!("{fault}: {text}")))?;
    prop_assert_eq!(&again, &message, "{}", text);
    prop_assert_eq!(&json::encode_string(&again).expect("written once already"), &text);
    Ok(text)
}

/// Checks one message type with messages made from its descriptor.
fn check(descriptor: &MessageDescriptor, through: Through) {
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let result = runner.run(&strategy::message(descriptor), |given| {
        let bytes = given.encode_to_vec();
        let text = through(&bytes)?;
        prop_assert_eq!(
            by_oracle(descriptor, &text)?,
            DynamicMessage::decode(descriptor.clone(), bytes.as_slice())?
        );
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{}: {error}", descriptor.full_name()));
}

fn by_oracle(descriptor: &MessageDescriptor, text: &str) -> Result<DynamicMessage, TestCaseError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = DynamicMessage::deserialize(descriptor.clone(), &mut reader);
    let message = read.map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    // Written defaults (of REQUIRED fields) are no presence on the wire.
    Ok(DynamicMessage::decode(descriptor.clone(), message.encode_to_vec().as_slice())?)
}

macro_rules! messages {
    ($($name:literal => $message:ty),*) => {
        /// Every message of the schema, by name.
        const MESSAGES: &[(&str, Through)] = &[$(($name, through::<$message>)),*];
    };
}

// The build writes `messages!` over all of them.
include!(concat!(env!("OUT_DIR"), "/messages.rs"));

#[test]
fn every_message_survives_json_and_protobuf_and_the_oracle_agrees() {
    let held: BTreeSet<_> = pool().all_messages().flat_map(|message| held_by(&message)).collect();
    let mut checked = 0;
    for (name, through) in MESSAGES {
        // Those that others hold are made inside them.
        if !held.contains(*name) {
            check(&pool().get_message_by_name(name).expect("a name of the schema"), *through);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} of {}", MESSAGES.len());
}

fn held_by(message: &MessageDescriptor) -> Vec<String> {
    let held = message.fields().filter_map(|field| match field.kind() {
        Kind::Message(inner) => Some(inner.full_name().to_owned()),
        _ => None,
    });
    held.collect()
}
