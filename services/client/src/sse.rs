//! `text/event-stream`, read with bounds (WHATWG HTML §9.2.6): chunks cut anywhere become whole events.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The `data` lines, joined with a line feed.
    pub data: Vec<u8>,
    /// The last `id` so far, unless it was empty.
    pub id: Option<String>,
}

/// An event, or a line, is over its limit.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The limit in bytes.
    pub bytes_max: usize,
}

/// Turns chunks into events. A byte is looked at once, however the chunks are cut.
#[derive(Debug)]
pub struct Reader {
    /// Bytes that came and are not read yet, from `at` on.
    buffer: Vec<u8>,
    at: usize,
    /// Bytes from `at` on that hold no end of a line.
    seen: usize,
    data: Vec<u8>,
    has_data: bool,
    id: Option<String>,
    /// Nothing has been read yet, so that a byte order mark may stand here.
    at_start: bool,
    /// The last line ended with CR: a LF that follows belongs to it.
    after_cr: bool,
    event_bytes_max: usize,
}

/// What stands on a line before its data.
const FIELD: &str = "data: ";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Reader {
    /// A reader that takes events of at most this many bytes of data.
    #[must_use]
    pub fn new(event_bytes_max: usize) -> Reader {
        Reader {
            buffer: Vec::new(),
            at: 0,
            seen: 0,
            data: Vec::new(),
            has_data: false,
            id: None,
            at_start: true,
            after_cr: false,
            event_bytes_max,
        }
    }

    /// Takes the next chunk.
    pub fn feed(&mut self, chunk: &[u8]) {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole event; `None` when more bytes are needed. An event that is cut off by the end of the stream
    /// never comes out. What is too large does not depend on where the chunks were cut: data over the limit, and a
    /// line that could not be kept whole.
    ///
    /// # Errors
    /// When an event is over the limit; the reader is of no use afterwards.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, TooLarge> {
        if !self.past_start() {
            return Ok(None);
        }
        loop {
            self.skip_lf();
            let rest = &self.buffer[self.at..];
            let mut unseen = rest[self.seen..].iter();
            let Some(end) = unseen.position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.seen = rest.len();
                return if self.fits(rest.len()) { Ok(None) } else { Err(self.too_large()) };
            };
            let end = std::mem::take(&mut self.seen) + end;
            if !self.fits(end) {
                return Err(self.too_large());
            }
            self.after_cr = rest[end] == b'\r';
            let line = self.at..self.at + end;
            self.at += end + 1;
            if !line.is_empty() {
                self.take_line(line)?;
            } else if std::mem::take(&mut self.has_data) {
                return Ok(Some(Frame { data: std::mem::take(&mut self.data), id: self.id.clone() }));
            }
        }
    }

    fn take_line(&mut self, line: std::ops::Range<usize>) -> Result<(), TooLarge> {
        match field(&self.buffer[line]) {
            (b"data", value) => {
                let line_break = usize::from(self.has_data);
                if self.data.len() + line_break + value.len() > self.event_bytes_max {
                    return Err(self.too_large());
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            (b"id", value) if !value.contains(&0) => {
                self.id = std::str::from_utf8(value).ok().filter(|id| !id.is_empty()).map(str::to_owned);
            }
            _ => {}
        }
        Ok(())
    }

    /// False while it cannot be told yet whether the stream begins with a byte order mark.
    fn past_start(&mut self) -> bool {
        if self.at_start {
            let rest = &self.buffer[self.at..];
            if rest.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(rest) {
                return false;
            }
            self.at += if rest.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            self.at_start = false;
        }
        true
    }

    fn skip_lf(&mut self) {
        if let (true, Some(byte)) = (self.after_cr, self.buffer.get(self.at)) {
            self.at += usize::from(*byte == b'\n');
            self.after_cr = false;
        }
    }

    /// Whether a line of this many bytes may hold an event's data.
    fn fits(&self, line: usize) -> bool {
        line <= self.event_bytes_max.saturating_add(FIELD.len())
    }

    fn too_large(&self) -> TooLarge {
        TooLarge { bytes_max: self.event_bytes_max }
    }
}

/// Name and value of a line; a comment has no name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':') {
        None => (line, b""),
        Some(colon) => {
            let value = &line[colon + 1..];
            (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]], max: usize) -> Result<Vec<(String, String)>, TooLarge> {
        let mut reader = Reader::new(max);
        let mut frames = Vec::new();
        for chunk in chunks {
            reader.feed(chunk);
            while let Some(frame) = reader.next_frame()? {
                frames.push((frame.id.unwrap_or_default(), String::from_utf8(frame.data).unwrap()));
            }
        }
        Ok(frames)
    }

    #[test]
    fn events_come_out_whole_wherever_the_chunks_are_cut() {
        let text = "\u{feff}: hello\r\n\r\nevent: x\r\ndata: one\r\nid: 7\r\n\r\ndata:two\ndata\ndata:  three\n\n\
                    id: 8\ndata: four\r\rid\ndata: five\n\ndatax: no\n\ndata";
        let expected = [("7", "one"), ("7", "two\n\n three"), ("8", "four"), ("", "five")];
        let expected: Vec<_> =
            expected.iter().map(|(id, data)| ((*id).to_owned(), (*data).to_owned())).collect();
        let bytes = text.as_bytes();
        assert_eq!(read(&[bytes], 100).unwrap(), expected);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single, 100).unwrap(), expected);
        for cut in 0..bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]], 100).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_event_that_is_not_finished_never_comes_out() {
        assert!(read(&[b"data: half\n"], 100).unwrap().is_empty());
        assert!(read(&[b"\xef\xbb"], 100).unwrap().is_empty());
    }

    #[test]
    fn a_line_or_an_event_over_the_bound_is_refused_before_it_is_whole() {
        assert_eq!(read(&[b"data: 12345678901"], 10), Err(TooLarge { bytes_max: 10 }));
        assert_eq!(read(&[b": a long comment!"], 10), Err(TooLarge { bytes_max: 10 }));
        assert_eq!(read(&[b"data: 12345\ndata: 12345\n"], 10), Err(TooLarge { bytes_max: 10 }));
        let many = "x: y\n".repeat(100);
        assert_eq!(read(&[many.as_bytes(), b"data: 12345\n\n"], 11).unwrap()[0].1, "12345");
    }

    #[test]
    fn what_is_too_large_does_not_depend_on_the_cuts() {
        let texts: [(&[u8], bool); 5] = [
            (b"data: 1234567890\n\n", true),
            (b"data: 12345\nid: 1\ndata: 1234\n\n", true),
            (b"data: 12345\n: comment more\n\n", true),
            (b"data: 12345\ndata: 12345\n\n", false),
            (b"data: 1\n: a longer comment\n\n", false),
        ];
        for (text, fits) in texts {
            for cut in 0..text.len() {
                assert_eq!(read(&[&text[..cut], &text[cut..]], 10).is_ok(), fits, "{text:?} cut at {cut}");
            }
        }
    }
}
