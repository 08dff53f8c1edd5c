//! The kept traces. When a bound is reached the trace that began first goes, whole: half a trace misleads.

use std::collections::{HashMap, VecDeque};

use crate::Settings;
use crate::trim::Kept;

/// 16 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TraceId([u8; 16]);

/// See the module.
pub(crate) struct Store {
    traces: HashMap<TraceId, Spans>,
    /// In the order in which their first span came.
    order: VecDeque<(i64, TraceId)>,
    figures: Figures,
    spans_max: u64,
    bytes_max: u64,
    trace_spans_max: usize,
    age_ms: i64,
}

#[derive(Default)]
struct Spans {
    spans: Vec<Kept>,
    bytes: usize,
}

/// How much is kept, and how much had to go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) traces: u64,
    pub(crate) spans: u64,
    pub(crate) bytes: u64,
    /// Spans that made room for others or grew too old, since the start.
    pub(crate) forgotten: u64,
}

impl TraceId {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<TraceId> {
        let bytes: [u8; 16] = bytes.try_into().ok()?;
        (bytes != [0; 16]).then_some(TraceId(bytes))
    }

    /// 32 lower-case hex digits.
    pub(crate) fn parse(text: &str) -> Option<TraceId> {
        if text.len() != 32 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        TraceId::from_bytes(&u128::from_str_radix(text, 16).ok()?.to_be_bytes())
    }
}

impl Store {
    pub(crate) fn new(settings: &Settings) -> Store {
        Store {
            traces: HashMap::new(),
            order: VecDeque::new(),
            figures: Figures::default(),
            spans_max: settings.spans_max,
            bytes_max: settings.bytes_max,
            trace_spans_max: settings.trace_spans_max as usize,
            age_ms: i64::try_from(settings.age_ms).unwrap_or(i64::MAX),
        }
    }

    /// Keeps a span; false when its trace holds as many as it may.
    pub(crate) fn add(&mut self, kept: Kept, now_ms: i64) -> bool {
        let id = kept.trace;
        let trace = self.traces.entry(id).or_insert_with(|| {
            self.order.push_back((now_ms, id));
            self.figures.traces += 1;
            Spans::default()
        });
        if trace.spans.len() >= self.trace_spans_max {
            return false;
        }
        trace.bytes += kept.bytes;
        self.figures.bytes += kept.bytes as u64;
        self.figures.spans += 1;
        trace.spans.push(kept);
        while self.figures.spans > self.spans_max || self.figures.bytes > self.bytes_max {
            self.forget_first();
        }
        true
    }

    /// The spans of a trace, in the order in which they came.
    pub(crate) fn get(&self, id: TraceId) -> Option<&[Kept]> {
        self.traces.get(&id).map(|trace| trace.spans.as_slice())
    }

    /// Lets go of what is older than may be.
    pub(crate) fn forget_old(&mut self, now_ms: i64) {
        while self.order.front().is_some_and(|(began, _)| now_ms.saturating_sub(*began) > self.age_ms) {
            self.forget_first();
        }
    }

    pub(crate) fn figures(&self) -> Figures {
        self.figures
    }

    fn forget_first(&mut self) {
        let Some(trace) = self.order.pop_front().and_then(|(_, id)| self.traces.remove(&id)) else { return };
        self.figures.traces -= 1;
        self.figures.spans -= trace.spans.len() as u64;
        self.figures.bytes -= trace.bytes as u64;
        self.figures.forgotten += trace.spans.len() as u64;
    }
}
