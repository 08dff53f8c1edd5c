//! Our A2A schema equals the official one, as a published crate ships it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use prost_reflect::{
    DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, ServiceDescriptor,
};

const PACKAGE: &str = "lf.a2a.v1";

/// The official file lies beside the manifest of the crate that ships it; only cargo knows where that is.
#[allow(clippy::disallowed_methods, reason = "a test that asks cargo; nothing of the mesh runs here")]
fn official() -> DescriptorPool {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", env!("WEFT_PROTO_TARGET")])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).expect("cargo answers in JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let package =
        packages.iter().find(|p| p["name"] == "a2a-protocol-types").expect("a dev-dependency of this crate");
    let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
    let include = manifest.with_file_name("proto").join("a2a_v1");
    let mut compiler = protox::Compiler::new([include]).expect("the folder is there");
    compiler.include_imports(true).open_file("a2a.proto").expect("the official file compiles");
    compiler.descriptor_pool()
}

fn ours() -> DescriptorPool {
    DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET).expect("our own descriptors decode")
}

/// Everything a schema says except its comments, one fact a line.
fn facts(pool: &DescriptorPool) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for file in pool.files().filter(|file| file.package_name() == PACKAGE) {
        let imports: BTreeSet<_> = file.dependencies().map(|import| import.name().to_owned()).collect();
        out.insert(format!("file: {:?}, imports {imports:?}, {}", file.syntax(), options(&file.options())));
        file.messages().for_each(|message| of_message(&message, &mut out));
        file.enums().for_each(|enumeration| of_enum(&enumeration, &mut out));
        file.services().for_each(|service| of_service(&service, &mut out));
    }
    out
}

fn of_message(message: &MessageDescriptor, out: &mut BTreeSet<String>) {
    out.insert(format!("message {}: {}", message.full_name(), options(&message.options())));
    message.child_messages().for_each(|child| of_message(&child, out));
    message.child_enums().for_each(|child| of_enum(&child, out));
    for oneof in message.oneofs() {
        let fields: Vec<_> = oneof.fields().map(|field| field.name().to_owned()).collect();
        out.insert(format!("oneof {}: {fields:?}, {}", oneof.full_name(), oneof.is_synthetic()));
    }
    message.fields().for_each(|field| {
        out.insert(of_field(&field));
    });
}

fn of_field(field: &FieldDescriptor) -> String {
    let kind = match field.kind() {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(enumeration) => enumeration.full_name().to_owned(),
        scalar => format!("{scalar:?}"),
    };
    format!(
        "field {} = {}: {:?} {kind}, map {}, packed {}, presence {}, optional {}, json {}, oneof {:?}, {}",
        field.full_name(),
        field.number(),
        field.cardinality(),
        field.is_map(),
        field.is_packed(),
        field.supports_presence(),
        field.field_descriptor_proto().proto3_optional(),
        field.json_name(),
        field.containing_oneof().map(|oneof| oneof.name().to_owned()),
        options(&field.options()),
    )
}

fn of_enum(enumeration: &EnumDescriptor, out: &mut BTreeSet<String>) {
    out.insert(format!("enum {}: {}", enumeration.full_name(), options(&enumeration.options())));
    for value in enumeration.values() {
        out.insert(format!(
            "value {} = {}: {}",
            value.full_name(),
            value.number(),
            options(&value.options())
        ));
    }
}

fn of_service(service: &ServiceDescriptor, out: &mut BTreeSet<String>) {
    out.insert(format!("service {}: {}", service.full_name(), options(&service.options())));
    for method in service.methods() {
        out.insert(format!(
            "method {}: {} {} -> {} {}, {}",
            method.full_name(),
            method.is_client_streaming(),
            method.input().full_name(),
            method.is_server_streaming(),
            method.output().full_name(),
            options(&method.options()),
        ));
    }
}

/// Options as JSON: field behaviour, HTTP rules and signatures are among them.
fn options(options: &prost_reflect::DynamicMessage) -> String {
    serde_json::to_string(options).expect("options have a JSON form")
}

#[test]
fn our_schema_states_the_same_facts_as_the_official_one() {
    let (official, ours) = (facts(&official()), facts(&ours()));
    let missing: Vec<_> = official.difference(&ours).collect();
    let invented: Vec<_> = ours.difference(&official).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing: {missing:#?}\ninvented: {invented:#?}");
    let count = |what: &str| official.iter().filter(|fact| fact.starts_with(what)).count();
    assert_eq!((count("method "), count("enum ")), (11, 2));
    let http = r#""[google.api.http]":{"post":"/tasks/{id=*}:cancel","body":"*","additionalBindings":[{"post":"/{tenant}/tasks/{id=*}:cancel","body":"*"}]}"#;
    assert!(
        official.iter().any(|fact| fact.contains("CancelTask") && fact.contains(http)),
        "HTTP rules are compared"
    );
    assert!(official.iter().any(|fact| fact.contains(r#"Message.parts"#) && fact.contains("REQUIRED")));
}
