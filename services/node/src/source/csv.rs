//! Rows of a CSV file with a header line.

use weft_core::manifest::Tool;

use crate::failure::Failure;
use crate::number;
use crate::rows::{Next, Sink};
use crate::source::{File, Misfit};

/// See the module.
#[derive(Debug)]
pub(crate) struct Table {
    file: File,
    delimiter: u8,
    numbers: Vec<String>,
}

impl Table {
    pub(crate) fn new(file: File, delimiter: u8, numbers: Vec<String>) -> Table {
        Table { file, delimiter, numbers }
    }

    /// Every field that may leave is a column.
    pub(crate) fn check(&self, tool: &Tool, name: &str) -> Result<(), Misfit> {
        let misfit = |remedy: String| Misfit { key: "file", value: format!("\"{name}\""), remedy };
        let bytes = self
            .file
            .read(tool.bytes_max)
            .map_err(|failure| misfit(format!("{failure}; raise `bytes_max`")))?;
        let mut reader = self.reader(&bytes);
        let columns =
            reader.headers().map_err(|error| misfit(format!("not CSV with a header line: {error}")))?;
        for field in tool.fields.iter().chain(&self.numbers) {
            if !columns.iter().any(|column| column == field) {
                let known = columns.iter().collect::<Vec<_>>().join(", ");
                return Err(misfit(format!("has no column \"{field}\"; it has {known}")));
            }
        }
        Ok(())
    }

    /// Offers every record. An empty cell of a number column is null.
    pub(crate) fn rows(&self, bytes_max: usize, sink: &mut Sink<'_>) -> Result<(), Failure> {
        let bytes = self.file.read(bytes_max)?;
        let mut reader = self.reader(&bytes);
        let broken = |error: csv::Error| {
            tracing::warn!(path = %self.file.path().display(), %error, "a source is not CSV");
            Failure::Unavailable("its file is not the CSV that was expected".to_owned())
        };
        let columns = reader.headers().map_err(broken)?.clone();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(broken)? {
            let next = sink.offer(|name| {
                let place = columns.iter().position(|column| column == name);
                let Some(cell) = place.and_then(|place| record.get(place)) else { return Ok(None) };
                if !self.numbers.iter().any(|column| column == name) {
                    return Ok(Some(number::text(cell)));
                }
                let cell = cell.trim();
                let not = || Failure::Unavailable(format!("a cell of column `{name}` is not a number"));
                if cell.is_empty() { Ok(None) } else { number::decimal(cell).map(Some).ok_or_else(not) }
            })?;
            if next == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    fn reader<'b>(&self, bytes: &'b [u8]) -> csv::Reader<&'b [u8]> {
        csv::ReaderBuilder::new().delimiter(self.delimiter).from_reader(without_mark(bytes))
    }
}

/// Spreadsheets like to begin a file with a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
