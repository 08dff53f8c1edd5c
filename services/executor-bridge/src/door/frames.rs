//! Server-sent events, read with bounds (WHATWG HTML §9.2.6): only `data` counts, one event an empty line.

/// What stands on a line before its data.
const FIELD: &str = "data: ";

/// An event or a line is larger than this many bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) bytes_max: usize,
}

/// Turns chunks, cut anywhere, into the data of whole events.
pub(crate) struct Frames {
    /// Bytes that came and are not looked at yet, from `at` on.
    buffer: Vec<u8>,
    at: usize,
    /// Bytes from `at` on that hold no end of a line.
    seen: usize,
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended with CR: a LF that follows belongs to it.
    after_cr: bool,
    event_bytes_max: usize,
}

impl Frames {
    pub(crate) fn new(event_bytes_max: usize) -> Frames {
        Frames {
            buffer: Vec::new(),
            at: 0,
            seen: 0,
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            event_bytes_max,
        }
    }

    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if self.at > 0 {
            self.buffer.drain(..self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The data of the next whole event; `None` when more bytes are needed. What is too large does not depend on where
    /// the chunks were cut: data over the bound, and a line that could not be kept whole.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, TooLarge> {
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
            if line.is_empty() {
                if std::mem::take(&mut self.has_data) {
                    return Ok(Some(std::mem::take(&mut self.data)));
                }
            } else if let Some(value) = value_of(&self.buffer[line]) {
                let line_break = usize::from(self.has_data);
                if self.data.len() + line_break + value.len() > self.event_bytes_max {
                    return Err(self.too_large());
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
        }
    }

    /// Whether a line of this many bytes may hold an event's data.
    fn fits(&self, line: usize) -> bool {
        line <= self.event_bytes_max.saturating_add(FIELD.len())
    }

    fn too_large(&self) -> TooLarge {
        TooLarge { bytes_max: self.event_bytes_max }
    }

    fn skip_lf(&mut self) {
        if let (true, Some(byte)) = (self.after_cr, self.buffer.get(self.at)) {
            self.at += usize::from(*byte == b'\n');
            self.after_cr = false;
        }
    }
}

/// The value of a `data` line; `None` for every other field and for comments.
fn value_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"data")?;
    match rest.first() {
        None => Some(rest),
        Some(b':') => Some(rest[1..].strip_prefix(b" ").unwrap_or(&rest[1..])),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str], max: usize) -> Result<Vec<String>, TooLarge> {
        let mut frames = Frames::new(max);
        let mut events = Vec::new();
        for chunk in chunks {
            frames.feed(chunk.as_bytes());
            while let Some(event) = frames.next()? {
                events.push(String::from_utf8(event).unwrap());
            }
        }
        Ok(events)
    }

    #[test]
    fn events_come_out_whole_wherever_the_chunks_are_cut() {
        let text = ": hello\r\n\r\nevent: x\r\ndata: one\r\nid: 7\r\n\r\ndata:two\ndata\ndata:  three\n\ndata: four\r\rdata";
        let expected = ["one", "two\n\n three", "four"];
        assert_eq!(read(&[text], 100).unwrap(), expected);
        let bytes: Vec<String> = text.chars().map(String::from).collect();
        let bytes: Vec<&str> = bytes.iter().map(String::as_str).collect();
        assert_eq!(read(&bytes, 100).unwrap(), expected);
        for cut in 0..text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]], 100).unwrap(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_event_that_is_not_finished_never_comes_out() {
        assert!(read(&["data: half\n"], 100).unwrap().is_empty());
    }

    #[test]
    fn a_line_or_an_event_over_the_bound_is_refused_before_it_is_whole() {
        assert_eq!(read(&["data: 12345678901"], 10), Err(TooLarge { bytes_max: 10 }));
        assert_eq!(read(&[": a long comment!"], 10), Err(TooLarge { bytes_max: 10 }));
        assert_eq!(read(&["data: 12345\ndata: 12345\n"], 10), Err(TooLarge { bytes_max: 10 }));
        assert_eq!(read(&["x: y\n".repeat(100).as_str(), "data: 12345\n\n"], 11).unwrap(), ["12345"]);
    }

    #[test]
    fn what_is_too_large_does_not_depend_on_the_cuts() {
        let texts = [
            ("data: 1234567890\n\n", true),
            ("data: 12345\nid: 1\ndata: 1234\n\n", true),
            ("data: 12345\n: comment more\n\n", true),
            ("data: 12345\ndata: 12345\n\n", false),
            ("data: 1\n: a longer comment\n\n", false),
        ];
        for (text, fits) in texts {
            for cut in 0..text.len() {
                assert_eq!(read(&[&text[..cut], &text[cut..]], 10).is_ok(), fits, "{text:?} cut at {cut}");
            }
        }
    }
}
