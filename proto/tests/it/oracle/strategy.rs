//! Any message of a descriptor.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};
use weft_proto::wkt;

/// Some value, or none, for a field; a oneof is one such choice among its members.
type Choice = BoxedStrategy<Option<(FieldDescriptor, Value)>>;

/// Messages with each field set or not, at most one member of each oneof set.
pub(super) fn message(descriptor: &MessageDescriptor) -> BoxedStrategy<DynamicMessage> {
    match descriptor.full_name() {
        "google.protobuf.Value" => {
            json().prop_map(|value| wkt_message("google.protobuf.Value", &value)).boxed()
        }
        "google.protobuf.Struct" => {
            object().prop_map(|object| wkt_message("google.protobuf.Struct", &object)).boxed()
        }
        "google.protobuf.Timestamp" => {
            time().prop_map(|time| wkt_message("google.protobuf.Timestamp", &time)).boxed()
        }
        _ => by_fields(descriptor),
    }
}

fn by_fields(descriptor: &MessageDescriptor) -> BoxedStrategy<DynamicMessage> {
    let mut choices: Vec<Choice> = Vec::new();
    for field in descriptor.fields() {
        if field.containing_oneof().is_none_or(|oneof| oneof.is_synthetic()) {
            choices.push(choice(&field));
        }
    }
    for oneof in descriptor.oneofs().filter(|oneof| !oneof.is_synthetic()) {
        choices.push(proptest::strategy::Union::new(oneof.fields().map(|field| choice(&field))).boxed());
    }
    let descriptor = descriptor.clone();
    choices
        .prop_map(move |choices| {
            let mut message = DynamicMessage::new(descriptor.clone());
            choices.into_iter().flatten().for_each(|(field, value)| message.set_field(&field, value));
            message
        })
        .boxed()
}

fn choice(field: &FieldDescriptor) -> Choice {
    let values = if field.is_map() {
        let Kind::Message(entry) = field.kind() else { unreachable!("a map has entries") };
        let entries = btree_map(text(), single(&entry.map_entry_value_field()), 0..3);
        entries
            .prop_map(|map| Value::Map(map.into_iter().map(|(k, v)| (MapKey::String(k), v)).collect()))
            .boxed()
    } else if field.is_list() {
        vec(single(field), 0..3).prop_map(Value::List).boxed()
    } else {
        single(field)
    };
    let field = field.clone();
    option::of(values).prop_map(move |value| value.map(|value| (field.clone(), value))).boxed()
}

fn single(field: &FieldDescriptor) -> BoxedStrategy<Value> {
    match field.kind() {
        Kind::String => text().prop_map(Value::String).boxed(),
        Kind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Kind::Bytes => vec(any::<u8>(), 0..9).prop_map(|bytes| Value::Bytes(bytes.into())).boxed(),
        Kind::Int32 => any::<i32>().prop_map(Value::I32).boxed(),
        Kind::Uint32 => any::<u32>().prop_map(Value::U32).boxed(),
        Kind::Int64 => any::<i64>().prop_map(Value::I64).boxed(),
        Kind::Uint64 => any::<u64>().prop_map(Value::U64).boxed(),
        // Also numbers without a name.
        Kind::Enum(_) => prop_oneof![9 => 0..9_i32, 1 => any::<i32>()].prop_map(Value::EnumNumber).boxed(),
        Kind::Message(descriptor) => message(&descriptor).prop_map(Value::Message).boxed(),
        other => unreachable!("no field is a {other:?}"),
    }
}

fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-z]{0,6}", "[\\PC\\x00-\\x1f\"\\\\]{0,6}"].boxed()
}

fn time() -> BoxedStrategy<wkt::Timestamp> {
    // To the millisecond, as JSON keeps it.
    (-62_135_596_800_000..=253_402_300_799_999_i64).prop_map(wkt::Timestamp::from_millis).boxed()
}

/// A JSON object.
pub(super) fn object() -> BoxedStrategy<wkt::Struct> {
    btree_map(text(), json(), 0..4).prop_map(|fields| wkt::Struct { fields }).boxed()
}

/// A JSON value.
pub(super) fn json() -> BoxedStrategy<wkt::Value> {
    let leaf = prop_oneof![
        Just(wkt::Value::null()),
        any::<bool>().prop_map(wkt::Value::from),
        any::<i32>().prop_map(wkt::Value::from),
        (proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO)
            .prop_map(|number| wkt::Value::from(wkt::Kind::Number(number))),
        text().prop_map(wkt::Value::from),
    ];
    let nested = |inner: BoxedStrategy<wkt::Value>| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(wkt::Value::from),
            btree_map(text(), inner, 0..3).prop_map(|fields| wkt::Struct { fields }.into()),
        ]
    };
    leaf.prop_recursive(4, 12, 3, move |inner| nested(inner.boxed())).boxed()
}

/// A message of ours as one that the oracle knows.
fn wkt_message<M: prost::Message>(name: &str, message: &M) -> DynamicMessage {
    let descriptor = super::pool().get_message_by_name(name).expect("a well-known type");
    DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).expect("the same wire form")
}
