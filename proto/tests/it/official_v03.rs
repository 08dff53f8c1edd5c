//! Our v0.3 schema states what the official one of the last v0.3 release states, one fact a line.

use std::collections::BTreeSet;

use prost_reflect::{
    DescriptorPool, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor, MethodDescriptor, Value,
};

const PACKAGE: &str = "a2a.v1";

/// The facts, listed from the descriptor that the official Python package 0.3.24 carries.
const OFFICIAL: &str = include_str!("official_v03.txt");

fn facts(file: &FileDescriptor) -> BTreeSet<String> {
    let messages = file.messages().flat_map(|message| of_message(&message));
    let values = file.enums().flat_map(|enumeration| {
        let name = enumeration.name().to_owned();
        let values: Vec<_> = enumeration.values().collect();
        values.into_iter().map(move |value| format!("{name}.{} = {}", value.name(), value.number()))
    });
    let services: Vec<_> = file.services().collect();
    let methods = services.iter().flat_map(|service| service.methods().collect::<Vec<_>>());
    messages.chain(values).chain(methods.map(|method| of_method(&method))).collect()
}

fn of_message(message: &MessageDescriptor) -> Vec<String> {
    let fields: Vec<_> = message.fields().map(|field| of_field(message.name(), &field)).collect();
    if fields.is_empty() { vec![message.name().to_owned()] } else { fields }
}

fn of_field(message: &str, field: &FieldDescriptor) -> String {
    let mut out = format!("{message}.{} = {}: {}", field.name(), field.number(), of_type(field));
    if let Some(oneof) = field.containing_oneof() {
        out += &format!(" in {}", oneof.name());
    }
    if field.json_name() != camel(field.name()) {
        out += &format!(" as {}", field.json_name());
    }
    let behavior = field.parent_pool().get_extension_by_name("google.api.field_behavior").expect("declared");
    let options = field.options();
    if options.get_extension(&behavior).as_list().is_some_and(|list| list.contains(&Value::EnumNumber(2))) {
        out += " required";
    }
    out
}

fn of_type(field: &FieldDescriptor) -> String {
    if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
        return format!("map of {}", of_type(&entry.map_entry_value_field()));
    }
    let single = match field.kind() {
        Kind::Message(message) => short(message.full_name()).to_owned(),
        Kind::Enum(enumeration) => short(enumeration.full_name()).to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    };
    if field.is_list() { format!("list of {single}") } else { single }
}

fn of_method(method: &MethodDescriptor) -> String {
    let http = method.parent_pool().get_extension_by_name("google.api.http").expect("declared");
    let options = method.options();
    let rule = options.get_extension(&http);
    let rule = rule.as_message().expect("a rule");
    let (verb, path) = ["get", "post", "delete"]
        .into_iter()
        .find_map(|verb| {
            Some((verb, rule.get_field_by_name(verb)?.as_str()?.to_owned())).filter(|p| !p.1.is_empty())
        })
        .expect("a verb");
    let body =
        rule.get_field_by_name("body").and_then(|body| body.as_str().map(str::to_owned)).unwrap_or_default();
    format!(
        "{}({}): {}{}, {verb} {path}{}",
        method.name(),
        method.input().name(),
        if method.is_server_streaming() { "stream of " } else { "" },
        short(method.output().full_name()),
        if body.is_empty() { String::new() } else { format!(" body {body}") },
    )
}

fn short(name: &str) -> &str {
    name.strip_prefix("a2a.v1.").unwrap_or(name)
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |out, word| out + &word[..1].to_uppercase() + &word[1..])
}

#[test]
fn our_v03_schema_states_the_facts_of_the_official_one() {
    let pool = DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).expect("our own descriptors decode");
    let file = pool.files().find(|file| file.package_name() == PACKAGE).expect("the v0.3 schema is there");
    let ours = facts(&file);
    let official: BTreeSet<_> = OFFICIAL.lines().map(str::to_owned).collect();
    let missing: Vec<_> = official.difference(&ours).collect();
    let invented: Vec<_> = ours.difference(&official).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:#?}\ninvented: {invented:#?}");
    assert_eq!(
        file.services().map(|service| service.full_name().to_owned()).collect::<Vec<_>>(),
        ["a2a.v1.A2AService"]
    );
}
