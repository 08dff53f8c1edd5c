//! What the build writes, in the module tree that the generated paths expect.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::wildcard_imports,
    clippy::needless_pass_by_value
)]
#![allow(rustdoc::all)]

pub mod a2a {
    /// Package `a2a.v1`: the A2A v0.3 wire schema; `a2a/v1/a2a.proto` says where it differs from v1.0.
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/a2a.v1.rs"));
    }
}

pub mod lf {
    pub mod a2a {
        /// Package `lf.a2a.v1`: the A2A v1.0 wire schema; `lf/a2a/v1/a2a.proto` says what each field means.
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/lf.a2a.v1.rs"));
        }
    }
}

pub mod weft {
    /// Package `weft.v1`: the services of the mesh; `weft/v1/*.proto` says what each field means.
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/weft.v1.rs"));
    }
}

#[allow(unused_variables, deprecated, reason = "messages without fields; fields the schema deprecates")]
mod protojson {
    use serde::{de::MapAccess, ser::SerializeMap};

    use crate::json::{self, form};
    use crate::walk::{At, Visitor, Walk};

    include!(concat!(env!("OUT_DIR"), "/protojson.rs"));
}
