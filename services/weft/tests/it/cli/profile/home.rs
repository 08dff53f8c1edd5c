//! Runs of the binary with profiles of their own.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use super::Ran;
use crate::process::command;

/// A home with profiles of its own.
pub(super) struct Home {
    pub(super) dir: tempfile::TempDir,
}

impl Home {
    pub(super) fn new() -> Home {
        Home { dir: tempfile::tempdir().unwrap() }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.file(name), text).unwrap();
        self.file(name).to_str().unwrap().to_owned()
    }

    pub(super) async fn run(&self, args: &[&str], env: &[(&str, &str)], input: &str) -> Ran {
        let mut command = command(args);
        command.env("WEFT_PROFILES", self.file("weft/profiles.toml")).envs(env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let input = input.to_owned();
        let ended = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            // A command that reads no input may be gone already.
            let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
            child.wait_with_output().unwrap()
        });
        let output = ended.await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs it and expects this exit code and these words, and never a secret.
    pub(super) async fn expect(&self, args: &[&str], env: &[(&str, &str)], code: i32, words: &[&str]) -> Ran {
        self.expect_of(args, env, "", code, words).await
    }

    pub(super) async fn expect_of(
        &self,
        args: &[&str],
        env: &[(&str, &str)],
        input: &str,
        code: i32,
        words: &[&str],
    ) -> Ran {
        let ran = self.run(args, env, input).await;
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        for word in words {
            assert!(
                ran.out.contains(word) || ran.err.contains(word),
                "{args:?} does not say {word}: {ran:?}"
            );
        }
        assert!(!ran.out.contains("s3cret") && !ran.err.contains("s3cret"), "{args:?}: {ran:?}");
        ran
    }

    pub(super) fn mode(&self, name: &str) -> u32 {
        std::fs::metadata(self.file(name)).unwrap().permissions().mode() & 0o777
    }
}
