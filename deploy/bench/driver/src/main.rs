//! `bench`: the same closed-loop load against several A2A servers in turn, every answer checked.

mod http;
mod load;
mod report;
mod rpc;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;

use http::Endpoint;
use load::{Run, Tally};
use report::Figure;
use rpc::Call;

/// The same closed-loop load against several A2A servers in turn; every answer is checked.
#[derive(Parser)]
struct Args {
    /// A server as NAME=URL or NAME=URL,PID (with its processor time and memory); the first is compared with the rest.
    #[arg(long = "target", required = true)]
    targets: Vec<String>,
    /// Connections at once, one run for each.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64", value_parser = clap::value_parser!(u16).range(1..=1024))]
    connections: Vec<u16>,
    /// Rounds; the servers take turns within each.
    #[arg(long, default_value_t = 2)]
    rounds: u32,
    /// Measured milliseconds of one run.
    #[arg(long, default_value_t = 2000)]
    run_ms: u64,
    /// Milliseconds of load before each measured run.
    #[arg(long, default_value_t = 500)]
    warm_up_ms: u64,
}

/// A server under test.
struct Target {
    name: String,
    endpoint: Endpoint,
    pid: Option<u32>,
}

impl std::str::FromStr for Target {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, rest) = text.split_once('=').context("a target is NAME=URL or NAME=URL,PID")?;
        let (url, pid) = rest.split_once(',').map_or((rest, None), |(url, pid)| (url, Some(pid)));
        let pid = pid.map(str::parse).transpose().context("the pid of a target is a number")?;
        Ok(Self { name: name.to_owned(), endpoint: url.parse()?, pid })
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    // One thread: the driver must leave the second core to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(bench(&args)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn bench(args: &Args) -> Result<()> {
    let targets = args.targets.iter().map(|text| text.parse()).collect::<Result<Vec<Target>>>()?;
    println!("{}", report::machine());
    let mut figures = Vec::new();
    for call in Call::ALL {
        for &connections in &args.connections {
            figures.extend(compare(args, &targets, call, connections.into()).await?);
        }
    }
    print!("{}", report::table(&figures));
    for target in &targets {
        if let Some(mib) = target.pid.and_then(report::resident_mib) {
            println!("{} holds {mib} MiB after the load", target.name);
        }
    }
    Ok(())
}

/// What the rounds against one target add up to.
struct Sum {
    tally: Tally,
    /// Processor seconds of the server, and of the driver.
    cpu: f64,
    driver_cpu: f64,
    wall: Duration,
}

/// Runs one load against each target in turn, as often as there are rounds, and adds up each target's rounds.
async fn compare(args: &Args, targets: &[Target], call: Call, connections: usize) -> Result<Vec<Figure>> {
    let empty = || Sum { tally: Tally::new(), cpu: 0.0, driver_cpu: 0.0, wall: Duration::ZERO };
    let mut sums: Vec<Sum> = targets.iter().map(|_| empty()).collect();
    for _ in 0..args.rounds {
        for (target, sum) in targets.iter().zip(&mut sums) {
            let run = Run {
                endpoint: target.endpoint.clone(),
                call,
                connections,
                warm_up: Duration::from_millis(args.warm_up_ms),
                measured: Duration::from_millis(args.run_ms),
                prefix: prefix(),
            };
            once(run, target, sum)
                .await
                .with_context(|| format!("{} against {}", call.method(), target.name))?;
        }
    }
    // Warm-up is load too: its share of the processor time is taken off by its share of the run.
    let share = args.run_ms as f64 / (args.run_ms + args.warm_up_ms) as f64;
    let figure = |(target, sum): (&Target, Sum)| Figure {
        target: target.name.clone(),
        call,
        connections,
        cpu_micros: target
            .pid
            .filter(|_| sum.tally.answers > 0)
            .map(|_| sum.cpu * share * 1e6 / sum.tally.answers as f64),
        driver_busy: sum.driver_cpu / sum.wall.as_secs_f64(),
        tally: sum.tally,
    };
    Ok(targets.iter().zip(sums).map(figure).collect())
}

async fn once(run: Run, target: &Target, sum: &mut Sum) -> Result<()> {
    let seconds = || {
        let server = target.pid.and_then(report::cpu_seconds).unwrap_or_default();
        (server, report::cpu_seconds(std::process::id()).unwrap_or_default())
    };
    let (begun, before) = (Instant::now(), seconds());
    let tally = run.measure().await?;
    let after = seconds();
    sum.cpu += after.0 - before.0;
    sum.driver_cpu += after.1 - before.1;
    sum.wall += begun.elapsed();
    sum.tally.add(&tally);
    sum.tally.elapsed += tally.elapsed;
    Ok(())
}

/// Unique enough for message ids of one bench: servers treat a repeated id as a repeated message.
fn prefix() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("bench-{}", now.as_micros())
}
