//! Runs named checks one after another, prints a line for each, and never hangs.

use std::pin::Pin;
use std::time::Duration;

use crate::mesh::Mesh;

const CHECK_MAX: Duration = Duration::from_secs(20);

/// Why a check does not hold.
pub type Reason = Box<dyn std::error::Error>;
/// What a check comes to.
pub type Outcome<'a> = Pin<Box<dyn Future<Output = Result<(), Reason>> + 'a>>;
/// One sentence about the mesh, and what shows that it holds.
pub type Check = (&'static str, for<'a> fn(&'a Mesh) -> Outcome<'a>);

/// Runs all checks and returns how many failed.
pub async fn run_all(mesh: &Mesh, checks: &[Check]) -> usize {
    let mut failed = 0;
    for (sentence, run) in checks {
        let outcome = tokio::time::timeout(CHECK_MAX, run(mesh)).await;
        match outcome.unwrap_or_else(|_| Err("took too long".into())) {
            Ok(()) => println!("ok - {sentence}"),
            Err(reason) => {
                failed += 1;
                println!("not ok - {sentence}: {}", reason.to_string().replace('\n', " "));
            }
        }
    }
    println!("{} passed, {failed} failed", checks.len() - failed);
    failed
}

/// An error unless the two are equal.
pub fn equal<T: PartialEq + std::fmt::Debug>(what: &str, actual: T, expected: T) -> Result<(), Reason> {
    if actual == expected {
        return Ok(());
    }
    Err(format!("{what} is {actual:?}, not {expected:?}").into())
}
