//! The published language: the A2A wire schemas (v1.0, and v0.3 for older peers) and the mesh's own services.
//!
//! | module | contents |
//! |---|---|
//! | [`a2a`] | messages, client and server of package `lf.a2a.v1` |
//! | [`a2a_v03`] | messages, client and server of package `a2a.v1`, which is A2A v0.3 |
//! | [`weft`] | messages, clients and servers of package `weft.v1` |
//! | [`wkt`] | `google.protobuf` types: timestamps and JSON values |
//! | [`json`] | ProtoJSON ⇄ message: the one entry, and what JSON cannot say |
//!
//! Every message of these packages has serde's `Serialize` and `Deserialize` in its ProtoJSON form and [`Required`].

mod generated;
pub mod json;
mod required;
mod walk;
pub mod wkt;

pub use generated::a2a::v1 as a2a_v03;
pub use generated::lf::a2a::v1 as a2a;
pub use generated::weft::v1 as weft;
pub use required::Required;

/// Encoded `google.protobuf.FileDescriptorSet` of every file and what it imports, custom options kept; for gRPC
/// reflection and for tests.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
