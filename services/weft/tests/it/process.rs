//! The shipped binary as real processes, ended by their own process id only.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;

use crate::client::Client;
use crate::world::{Form, fleet};

/// How long a process may take to start or to stop.
const WITHIN: Duration = Duration::from_secs(60);

/// A running process of the binary. Dropped, it is killed.
pub(crate) struct Process {
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
    /// What it said on standard output until it was up.
    pub(crate) said: Vec<String>,
    log: PathBuf,
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    // Nothing of the machine's own settings, and no file beside the sources.
    let foreign = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("WEFT_") || name.starts_with("OTEL_")
    });
    for (name, _) in foreign {
        command.env_remove(name);
    }
    // Nor the profiles of whoever runs the tests.
    command.env("WEFT_PROFILES", concat!(env!("CARGO_TARGET_TMPDIR"), "/no-profiles.toml"));
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

/// Runs a command of the binary to its end.
pub(crate) async fn run(args: &[&str]) -> Output {
    let mut command = command(args);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// A port of the loopback interface that is free now and is given to nobody by chance: it lies below the range from
/// which the system takes the ports of outgoing connections, so that it is still free when a process starts anew.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 12_000 + u16::try_from(std::process::id() % 18_000).unwrap();
    for _ in 0..2_000 {
        let port = 12_000 + (start - 12_000 + NEXT.fetch_add(1, Ordering::Relaxed)) % 18_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}

// === impl Process ===

impl Process {
    /// Starts it, with its log appended to the file, and waits until it says that it is up; else what it wrote.
    pub(crate) async fn start(mut command: Command, log: &Path) -> Result<Process, String> {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut process = Process { child, lines, said: Vec::new(), log: log.to_owned() };
        let mark = format!("(pid {})", process.child.id());
        let up = async {
            while let Some(line) = process.lines.recv().await {
                let up = line.contains(&mark);
                process.said.push(line);
                if up {
                    return true;
                }
            }
            false
        };
        match tokio::time::timeout(WITHIN, up).await {
            Ok(true) => Ok(process),
            Ok(false) => Err(format!("ended: {}", process.log_end())),
            Err(_) => Err(format!("is not up after {WITHIN:?}: {}", process.log_end())),
        }
    }

    /// The last lines of its log.
    pub(crate) fn log_end(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let mut last = VecDeque::new();
        for line in text.lines() {
            last.push_back(line);
            if last.len() > 30 {
                last.pop_front();
            }
        }
        Vec::from(last).join("\n")
    }

    /// `kill -9`, and gone when this returns.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal; how it ended.
    pub(crate) async fn signal(mut self, signal: Signal) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let ended = tokio::time::timeout(WITHIN, ended).await;
        ended.unwrap_or_else(|_| panic!("does not stop: {}", self.log_end()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A whole mesh of processes, each of which can be killed and started again at the same place.
pub(crate) struct Deployment {
    parts: Vec<Part>,
    pub(crate) client: Client,
    data: PathBuf,
    log: PathBuf,
    flags: Vec<String>,
    env: Vec<(String, String)>,
}

/// One process: its name, the roles it runs (none: all of them), and itself while it lives.
struct Part {
    name: &'static str,
    command: Vec<&'static str>,
    process: Option<Process>,
}

// === impl Deployment ===

impl Deployment {
    /// Starts all of it with data and logs in `dir`. `flags` and `env` go to every process.
    pub(crate) async fn start(form: Form, dir: &Path, flags: &[&str], env: &[(&str, &str)]) -> Deployment {
        let part = |name, command: &[&'static str]| Part { name, command: command.to_vec(), process: None };
        let parts = match form {
            Form::Together => vec![part("all", &["up"])],
            Form::Apart => vec![
                part("rest", &["run", "signer", "journal", "catalog", "negotiator"]),
                part("tasks", &["run", "tasks"]),
                part("bridge", &["run", "executor-bridge"]),
                part("edge", &["run", "edge"]),
            ],
        };
        let data = dir.join("data");
        let edge = format!("127.0.0.1:{}", free_port());
        let mut own: Vec<String> =
            vec![format!("--mesh-data={}", data.display()), format!("--edge-http={edge}")];
        for service in ["signer", "journal", "catalog", "tasks", "negotiator", "executor-bridge"] {
            let port = free_port();
            own.push(format!("--listen-{service}=127.0.0.1:{port}"));
            own.push(format!("--peers-{service}=http://127.0.0.1:{port}"));
        }
        if !flags.iter().any(|flag| flag.starts_with("--catalog-dir=")) {
            own.push(format!("--catalog-dir={}", fleet().display()));
        }
        own.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let client = Client::new(&format!("http://{edge}"));
        let mut deployment = Deployment { parts, client, data, log: dir.join("log"), flags: own, env };
        for at in 0..deployment.parts.len() {
            deployment.start_at(at).await;
        }
        deployment
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// `kill -9` of one part.
    pub(crate) fn kill(&mut self, name: &str) {
        let at = self.at(name);
        self.parts[at].process.take().expect("it runs").kill();
    }

    /// Sends a signal to one part; how it ended.
    pub(crate) async fn signal(&mut self, name: &str, signal: Signal) -> ExitStatus {
        let at = self.at(name);
        self.parts[at].process.take().expect("it runs").signal(signal).await
    }

    /// Starts a part that was ended.
    pub(crate) async fn revive(&mut self, name: &str) {
        self.start_at(self.at(name)).await;
    }

    /// Stops every part, callers before callees; each must end well.
    pub(crate) async fn stop(&mut self) {
        for part in self.parts.iter_mut().rev() {
            let Some(process) = part.process.take() else { continue };
            let status = process.signal(Signal::TERM).await;
            assert!(status.success(), "{} ended with {status}", part.name);
        }
    }

    /// What `weft store check` says of the store, which must be whole and not in use.
    pub(crate) async fn check_store(&self) -> String {
        let output = run(&["store", "check", "--data", self.data.to_str().unwrap()]).await;
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "the store is not whole: {said}");
        said
    }

    fn at(&self, name: &str) -> usize {
        self.parts.iter().position(|part| part.name == name).unwrap()
    }

    async fn start_at(&mut self, at: usize) {
        let part = &self.parts[at];
        let flags = self.flags.iter().map(String::as_str);
        let args: Vec<&str> = part.command.iter().copied().chain(flags).collect();
        let mut command = command(&args);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let started = Process::start(command, &self.log).await;
        let process = started.unwrap_or_else(|problem| panic!("{} {problem}", part.name));
        self.parts[at].process = Some(process);
    }
}
