//! What an operator can set; every bound of the journal stands here.

weft_chassis::settings! {
    /// How many spans the journal keeps, and for how long.
    pub struct Settings in "journal" {
        /// spans that are kept in all; the oldest trace goes first
        pub spans_max: u64 = 100_000, 100..=100_000_000;
        /// memory for kept spans, in bytes, estimated; the oldest trace goes first
        pub bytes_max: u64 = 33_554_432, 65_536..=68_719_476_736;
        /// spans that are kept of one trace; further ones are rejected
        pub trace_spans_max: u32 = 5_000, 10..=1_000_000;
        /// how long a trace is kept, in milliseconds
        pub age_ms: u64 = 3_600_000, 1_000..=2_592_000_000;
    }
}
