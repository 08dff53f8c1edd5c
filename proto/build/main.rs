//! Parses the .proto files without protoc and generates messages, clients, servers and their JSON form.

mod protojson;

use std::{env, error::Error, fs, path::PathBuf};

/// The files to compile, relative to this folder; what they import comes along.
const FILES: [&str; 13] = [
    "a2a/v1/a2a.proto",
    "lf/a2a/v1/a2a.proto",
    "weft/v1/access.proto",
    "weft/v1/audit.proto",
    "weft/v1/bridge.proto",
    "weft/v1/catalog.proto",
    "weft/v1/journal.proto",
    "weft/v1/negotiator.proto",
    "weft/v1/owners.proto",
    "weft/v1/peer.proto",
    "weft/v1/route.proto",
    "weft/v1/signer.proto",
    "weft/v1/tasks.proto",
];

#[allow(clippy::print_stdout, reason = "how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    for path in ["a2a", "build", "google", "lf", "weft"] {
        println!("cargo:rerun-if-changed={path}");
    }
    // tests/official.rs asks cargo about the packages of this platform.
    println!("cargo:rustc-env=WEFT_PROTO_TARGET={}", env::var("TARGET")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_imports(true).include_source_info(true).open_files(FILES)?;
    // `file_descriptor_set()` would drop the custom options (field_behavior, http).
    fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;
    let pool = compiler.descriptor_pool();
    fs::write(out.join("protojson.rs"), protojson::generate(&pool)?)?;
    fs::write(out.join("messages.rs"), protojson::list(&pool)?)?;
    generate_messages(compiler.file_descriptor_set())
}

fn generate_messages(files: prost_types::FileDescriptorSet) -> Result<(), Box<dyn Error>> {
    let mut config = tonic_prost_build::Config::new();
    // Ordered maps, so that equal messages have equal bytes.
    config.btree_map(["."]).enable_type_names();
    tonic_prost_build::configure()
        .emit_rerun_if_changed(false)
        .compile_well_known_types(true)
        .extern_path(".google.protobuf.Timestamp", "crate::wkt::Timestamp")
        .extern_path(".google.protobuf.Struct", "crate::wkt::Struct")
        .extern_path(".google.protobuf.Value", "crate::wkt::Value")
        .extern_path(".google.protobuf.ListValue", "crate::wkt::ListValue")
        .extern_path(".google.protobuf.NullValue", "i32")
        .extern_path(".google.protobuf.Empty", "()")
        .compile_fds_with_config(files, config)?;
    Ok(())
}
