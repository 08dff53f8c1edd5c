//! Rows on their way out: only whitelisted fields are ever taken from a source, and only so many.

use std::collections::BTreeMap;

use weft_core::manifest::Tool;
use weft_proto::weft::InvokeResult;
use weft_proto::wkt::{Kind, ListValue, Struct, Value};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::number;

/// How deep a row may nest: the answer wraps it twice, and what is answered must be readable everywhere.
const DEPTH_MAX: usize = weft_proto::json::MAX_JSON_DEPTH - 2;

/// Whether a source should go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    More,
    Enough,
}

/// Takes rows from a source within a tool's limits.
#[derive(Debug)]
pub(crate) struct Sink<'t> {
    tool: &'t Tool,
    arguments: &'t Arguments,
    rows: Vec<Value>,
    bytes: usize,
    truncated: bool,
    as_of: Option<String>,
}

impl<'t> Sink<'t> {
    pub(crate) fn new(tool: &'t Tool, arguments: &'t Arguments) -> Sink<'t> {
        Sink { tool, arguments, rows: Vec::new(), bytes: 0, truncated: false, as_of: None }
    }

    /// Says how fresh the rows are; used by sources that are read live. A declared field counts more.
    pub(crate) fn read_at(&mut self, time: String) {
        if self.tool.as_of.is_none() {
            self.as_of = Some(time);
        }
    }

    /// Offers one row. `field` is asked for whitelisted fields only; what the row does not have is answered as null.
    ///
    /// # Errors
    /// What `field` fails with.
    pub(crate) fn offer(
        &mut self,
        mut field: impl FnMut(&str) -> Result<Option<Value>, Failure>,
    ) -> Result<Next, Failure> {
        let mut fields = BTreeMap::new();
        for name in &self.tool.fields {
            fields.insert(name.clone(), field(name)?.unwrap_or_else(number::null));
        }
        if !self.arguments.hold(|name| fields.get(name)) {
            return Ok(Next::More);
        }
        let row = Struct { fields };
        if row.depth() > DEPTH_MAX {
            return Err(Failure::Unavailable(format!("a row nests deeper than {DEPTH_MAX} levels")));
        }
        let row = Value { kind: Some(Kind::Struct(row)) };
        self.bytes += json_bytes(&row) + 1;
        if self.rows.len() == self.arguments.rows_max() || self.bytes > self.tool.bytes_max {
            self.truncated = true;
            return Ok(Next::Enough);
        }
        self.date(&row);
        self.rows.push(row);
        Ok(Next::More)
    }

    /// The answer: `{rows, count, as_of?, truncated?}`.
    pub(crate) fn finish(self) -> InvokeResult {
        let mut fields = BTreeMap::new();
        let empty = self.rows.is_empty();
        fields.insert("count".to_owned(), number::count(u64::try_from(self.rows.len()).unwrap_or(u64::MAX)));
        fields.insert("rows".to_owned(), Value { kind: Some(Kind::List(ListValue { values: self.rows })) });
        if let Some(as_of) = self.as_of {
            fields.insert("as_of".to_owned(), number::text(as_of));
        }
        if self.truncated {
            fields.insert("truncated".to_owned(), number::flag(true));
        }
        let result = Some(Value { kind: Some(Kind::Struct(Struct { fields })) });
        InvokeResult { ok: true, result, empty, ..InvokeResult::default() }
    }

    /// Keeps the greatest value of the field that dates the rows.
    fn date(&mut self, row: &Value) {
        let (Some(name), Some(Kind::Struct(row))) = (&self.tool.as_of, &row.kind) else { return };
        if let Some(Kind::String(day)) = row.fields.get(name).and_then(|value| value.kind.as_ref())
            && self.as_of.as_ref().is_none_or(|latest| day > latest)
        {
            self.as_of = Some(day.clone());
        }
    }
}

/// About how long the JSON text of a value is, in bytes; escapes are not counted.
fn json_bytes(value: &Value) -> usize {
    match &value.kind {
        None | Some(Kind::Null(_)) => 4,
        Some(Kind::Bool(_)) => 5,
        Some(Kind::Number(_)) => 12,
        Some(Kind::String(text)) => text.len() + 2,
        Some(Kind::List(list)) => 2 + list.values.iter().map(|v| json_bytes(v) + 1).sum::<usize>(),
        Some(Kind::Struct(object)) => {
            2 + object.fields.iter().map(|(name, v)| name.len() + 4 + json_bytes(v)).sum::<usize>()
        }
    }
}
