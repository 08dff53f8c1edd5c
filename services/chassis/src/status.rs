//! [`Fault`] ⇄ gRPC status. Details travel as `google.rpc.ErrorInfo`, `BadRequest` and `RetryInfo` in
//! `grpc-status-details-bin` (A2A v1.0.1 §10.6), so nothing is lost between two services.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};
use weft_core::{Fault, Kind, Violation};

/// Turns a fault into the status a caller sees.
#[must_use]
pub fn status(fault: Fault) -> Status {
    let row = fault.kind.row();
    let metadata: std::collections::HashMap<_, _> = fault.metadata.into_iter().collect();
    let mut details = ErrorDetails::with_error_info(row.reason, row.domain, metadata);
    for violation in fault.violations {
        details.add_bad_request_violation(violation.field, violation.description);
    }
    if let Some(ms) = fault.retry_after_ms {
        details.set_retry_info(Some(Duration::from_millis(u64::from(ms))));
    }
    Status::with_error_details(Code::from_i32(row.grpc), fault.message, details)
}

/// Reads a status back. One without our details keeps its meaning as well as its code allows: both `Cancelled` (what
/// tonic makes of its own time-out) and `DeadlineExceeded` mean that time was over; a connection that broke makes the
/// other side `Unavailable`.
#[must_use]
pub fn fault(status: &Status) -> Fault {
    let details = status.get_error_details();
    let kind = details
        .error_info()
        .and_then(|info| Kind::from_reason(&info.reason))
        .unwrap_or_else(|| if is_broken(status) { Kind::Unavailable } else { kind_of(status.code()) });
    let mut fault = Fault::new(kind, status.message());
    if let Some(info) = details.error_info() {
        fault.metadata = info.metadata.clone().into_iter().collect();
    }
    if let Some(bad) = details.bad_request() {
        fault.violations = bad
            .field_violations
            .iter()
            .map(|v| Violation { field: v.field.clone(), description: v.description.clone() })
            .collect();
    }
    fault.retry_after_ms = details
        .retry_info()
        .and_then(|info| info.retry_delay)
        .map(|delay| u32::try_from(delay.as_millis()).unwrap_or(u32::MAX));
    fault
}

/// True when the connection broke, so that nobody said anything: only a status made on this side has a cause. tonic
/// calls some of them internal errors.
fn is_broken(status: &Status) -> bool {
    std::error::Error::source(status).is_some() && matches!(status.code(), Code::Unknown | Code::Internal)
}

fn kind_of(code: Code) -> Kind {
    match code {
        Code::InvalidArgument | Code::OutOfRange => Kind::Invalid,
        Code::NotFound => Kind::NotFound,
        Code::AlreadyExists | Code::Aborted => Kind::Conflict,
        Code::Unauthenticated => Kind::Unauthenticated,
        Code::PermissionDenied => Kind::Denied,
        Code::ResourceExhausted => Kind::Exhausted,
        Code::Unavailable => Kind::Unavailable,
        Code::DeadlineExceeded | Code::Cancelled => Kind::Deadline,
        Code::FailedPrecondition | Code::Unimplemented => Kind::UnsupportedOperation,
        Code::Ok | Code::Unknown | Code::Internal | Code::DataLoss => Kind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_survives_the_crossing_whole() {
        for kind in Kind::ALL {
            let mut sent = Fault::new(kind, "cannot do it").with("taskId", "t1");
            sent.violations.push(Violation { field: "message".into(), description: "is missing".into() });
            sent.retry_after_ms = Some(1_500);
            assert_eq!(fault(&status(sent.clone())), sent);
        }
    }

    #[test]
    fn a_connection_that_broke_is_unavailable_and_an_internal_error_of_the_other_side_is_not() {
        let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert_eq!(fault(&Status::from_error(Box::new(broken))).kind, Kind::Unavailable);
        assert_eq!(fault(&Status::internal("a defect")).kind, Kind::Internal);
    }

    #[test]
    fn a_foreign_status_keeps_its_meaning() {
        assert_eq!(fault(&Status::unavailable("down")).kind, Kind::Unavailable);
        assert_eq!(fault(&Status::cancelled("Timeout expired")).kind, Kind::Deadline);
    }
}
