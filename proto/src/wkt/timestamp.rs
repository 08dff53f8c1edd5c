//! A point in time.

/// Seconds and nanoseconds since 1970-01-01T00:00:00Z, as `google.protobuf.Timestamp`.
///
/// The order of the fields makes the derived order the order in time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Message)]
pub struct Timestamp {
    /// Whole seconds, negative before 1970.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// 0 to 999,999,999, counting forward in time also before 1970.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl prost::Name for Timestamp {
    const NAME: &'static str = "Timestamp";
    const PACKAGE: &'static str = "google.protobuf";
}
