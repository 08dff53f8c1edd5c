//! The command line against a running mesh: what it prints and how it exits.

mod client;
mod owner;
mod profile;
mod secured;
mod settings;
mod stops;
mod store;

use std::process::Output;

use crate::process;

/// A command's end.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the binary.
async fn weft(args: &[&str]) -> Ran {
    let Output { status, stdout, stderr } = process::run(args).await;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

/// Runs it and expects this exit code and these words, in either output.
async fn expect(args: &[&str], code: i32, words: &[&str]) -> Ran {
    let ran = weft(args).await;
    assert_eq!(ran.code, code, "{args:?}: {ran:?}");
    for word in words {
        assert!(ran.out.contains(word) || ran.err.contains(word), "{args:?} does not say {word}: {ran:?}");
    }
    ran
}
