//! The mesh, as one binary.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    // Chosen once, for every TLS connection of the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match weft::cli::run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            weft::cli::report(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
