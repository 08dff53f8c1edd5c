//! The table of figures, the ratios, and what is said about the machine they were taken on.

use std::fmt::Write as _;
use std::fs;

use crate::load::Tally;
use crate::rpc::Call;

/// One server's figures under one load.
pub(crate) struct Figure {
    /// The server's name.
    pub(crate) target: String,
    /// The call that was repeated.
    pub(crate) call: Call,
    /// Connections at once.
    pub(crate) connections: usize,
    /// What was counted.
    pub(crate) tally: Tally,
    /// Processor time that the server's process took for one answer, in microseconds, where its pid was given.
    pub(crate) cpu_micros: Option<f64>,
    /// How much of one core the driver itself was busy for, 0 to 1: near 1 it is the driver that is measured.
    pub(crate) driver_busy: f64,
}

/// One line a figure; the first target is the one that is compared with the others.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut out = String::new();
    let baseline = figures.first().map(|figure| figure.target.clone()).unwrap_or_default();
    let _ = writeln!(
        out,
        "{:<22}{:>6}  {:<16}{:>10}{:>10}{:>10}{:>12}{:>10}   {baseline} ÷ it",
        "call", "conns", "server", "req/s", "p50 ms", "p99 ms", "cpu µs/req", "driver %"
    );
    for figure in figures {
        let cpu = figure.cpu_micros.map_or("-".into(), |micros| format!("{micros:.0}"));
        let ratio = match rate(figures, &baseline, figure) {
            Some(ours) if figure.target != baseline && figure.tally.rate() > 0.0 => {
                format!("{:.2}", ours / figure.tally.rate())
            }
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "{:<22}{:>6}  {:<16}{:>10.0}{:>10.2}{:>10.2}{:>12}{:>10.0}   {ratio}",
            figure.call.method(),
            figure.connections,
            figure.target,
            figure.tally.rate(),
            millis(figure, 0.5),
            millis(figure, 0.99),
            cpu,
            figure.driver_busy * 100.0
        );
    }
    out.push_str("Streams: req/s counts whole streams, p50 and p99 are to the first event.\n");
    out
}

/// What the figures depend on.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("?", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    format!(
        "{cores} cores of {model}, Linux {}, load before the run {}. The driver (one thread) and the servers share these cores.",
        kernel.trim(),
        load.split(' ').next().unwrap_or("?")
    )
}

/// Processor time a process has taken so far, in seconds; none when it is gone.
pub(crate) fn cpu_seconds(pid: u32) -> Option<f64> {
    // Linux reports these in ticks of USER_HZ, which is 100 on every architecture it is built for today.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / TICKS_PER_SECOND)
}

/// Resident memory of a process, in MiB; none when it is gone.
pub(crate) fn resident_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn rate(figures: &[Figure], target: &str, like: &Figure) -> Option<f64> {
    let same = |figure: &&Figure| {
        figure.target == target && figure.call == like.call && figure.connections == like.connections
    };
    figures.iter().find(same).map(|figure| figure.tally.rate())
}

fn millis(figure: &Figure, quantile: f64) -> f64 {
    figure.tally.micros.value_at_quantile(quantile) as f64 / 1000.0
}
