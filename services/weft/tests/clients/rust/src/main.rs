//! Checks a running mesh with the official Rust SDK over JSON-RPC, HTTP+JSON and gRPC:
//! `check-mesh http://127.0.0.1:8420 [JSONRPC|HTTP+JSON|GRPC]...`
//!
//! The mesh must let everybody read its extended card (`edge.extended_card`).

mod checks;
mod mesh;
mod report;

use std::process::ExitCode;

use mesh::Mesh;

const BINDINGS: [&str; 3] = ["JSONRPC", "HTTP+JSON", "GRPC"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, report::Reason> {
    let mut arguments = std::env::args().skip(1);
    let Some(base) = arguments.next() else {
        eprintln!("usage: check-mesh BASE_URL [JSONRPC|HTTP+JSON|GRPC]...");
        return Ok(ExitCode::from(2));
    };
    let mut chosen: Vec<String> = arguments.collect();
    if chosen.is_empty() {
        chosen = BINDINGS.map(str::to_owned).to_vec();
    }
    let mut failed = 0;
    for binding in chosen {
        println!("# {binding}");
        failed += report::run_all(&Mesh::open(&base, &binding).await?, checks::CHECKS).await;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
