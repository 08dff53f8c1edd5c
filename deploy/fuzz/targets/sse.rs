//! The reader of event streams: the events do not depend on where the chunks are cut, none is over its bound, and
//! nothing that was not sent comes out.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_client::sse::{Frame, Reader, TooLarge};

const EVENT_BYTES_MAX: usize = 64;

fuzz_target!(|input: &[u8]| {
    let Some((cut, stream)) = input.split_first() else { return };
    let cut = usize::from(*cut).max(1);
    let whole = read([stream]);
    let single = read(stream.chunks(1));
    let pieces = read(stream.chunks(cut));
    assert_eq!(whole, single);
    assert_eq!(whole, pieces);
    for frame in &whole.0 {
        assert!(frame.data.len() <= EVENT_BYTES_MAX && frame.data.len() <= stream.len());
    }
});

/// The events until the end, or until one was over the bound.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Frame>, Option<TooLarge>) {
    let (mut reader, mut frames) = (Reader::new(EVENT_BYTES_MAX), Vec::new());
    for chunk in chunks {
        reader.feed(chunk);
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(over) => return (frames, Some(over)),
            }
        }
    }
    (frames, None)
}
