//! The published language: the A2A v1.0 wire schema and the mesh's own services.
//!
//! | module | contents |
//! |---|---|
//! | [`a2a`] | messages, client and server of package `lf.a2a.v1` |
//! | [`weft`] | messages, clients and servers of package `weft.v1` |
//! | [`wkt`] | `google.protobuf` types: timestamps and JSON values |

mod generated;
pub mod wkt;

pub use generated::lf::a2a::v1 as a2a;
pub use generated::weft::v1 as weft;

/// Encoded `google.protobuf.FileDescriptorSet` of every file and what it imports, custom options kept; for gRPC
/// reflection and for tests.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
