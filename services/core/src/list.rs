//! Listing tasks: what is asked for, in which order, and where a page ends.
//!
//! The order is: latest status first; tasks whose statuses began in the same millisecond by id, ascending. A page
//! ends at a [`Cursor`]; the next one begins after it, whatever was written or removed meanwhile.

use weft_proto::a2a::{ListTasksRequest, TaskState};
use weft_proto::wkt::Timestamp;

use crate::{Fault, Owner};

/// Tasks a page when the caller names no number.
pub const PAGE_DEFAULT: usize = 50;
/// Most tasks a page.
pub const PAGE_MAX: i32 = 100;

/// A checked request for a page of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Whose tasks.
    pub owner: Owner,
    /// Only of this conversation.
    pub context: Option<String>,
    /// Only in this state.
    pub state: Option<TaskState>,
    /// Only tasks whose status began at this time or later; milliseconds since the Unix epoch.
    pub since_ms: Option<i64>,
    /// Tasks a page, 1 to [`PAGE_MAX`].
    pub page: usize,
    /// Where the page before ended; `None`: the first page.
    pub after: Option<Cursor>,
    /// At most this many latest messages of each task; `None`: all.
    pub history: Option<usize>,
    /// With artifacts.
    pub artifacts: bool,
}

/// The place of one task in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// When its status began, in milliseconds since the Unix epoch.
    pub status_ms: i64,
    /// Its id.
    pub task: [u8; 16],
}

impl Ord for Cursor {
    fn cmp(&self, other: &Cursor) -> std::cmp::Ordering {
        other.status_ms.cmp(&self.status_ms).then(self.task.cmp(&other.task))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Cursor) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Cursor {
    /// Bytes of [`Cursor::bytes`].
    pub const BYTES: usize = 24;

    /// For a page token.
    pub fn bytes(self) -> [u8; Cursor::BYTES] {
        let mut bytes = [0; Cursor::BYTES];
        bytes[..8].copy_from_slice(&self.status_ms.to_be_bytes());
        bytes[8..].copy_from_slice(&self.task);
        bytes
    }

    /// Reads [`Cursor::bytes`].
    pub fn read(bytes: &[u8; Cursor::BYTES]) -> Cursor {
        let (mut ms, mut task) = ([0; 8], [0; 16]);
        ms.copy_from_slice(&bytes[..8]);
        task.copy_from_slice(&bytes[8..]);
        Cursor { status_ms: i64::from_be_bytes(ms), task }
    }
}

impl Query {
    /// Checks everything but the page token, which the caller opens and puts into `after`.
    ///
    /// # Errors
    /// `Invalid` naming the field.
    pub fn check(owner: Owner, request: &ListTasksRequest) -> Result<Query, Fault> {
        let page = match request.page_size {
            None => PAGE_DEFAULT,
            Some(size @ 1..=PAGE_MAX) => usize::try_from(size).unwrap_or(PAGE_DEFAULT),
            Some(_) => return Err(Fault::invalid("pageSize", format!("must be from 1 to {PAGE_MAX}"))),
        };
        let state = TaskState::try_from(request.status)
            .map_err(|_| Fault::invalid("status", "must be a task state of A2A v1.0"))?;
        Ok(Query {
            owner,
            context: (!request.context_id.is_empty()).then(|| request.context_id.clone()),
            state: (state != TaskState::Unspecified).then_some(state),
            since_ms: request
                .status_timestamp_after
                .map(|at| ms_up("statusTimestampAfter", at))
                .transpose()?,
            page,
            after: None,
            history: history_length("historyLength", request.history_length)?,
            artifacts: request.include_artifacts.unwrap_or(false),
        })
    }

    /// What a page token is bound to: the owner and the filters, as bytes of one meaning.
    pub fn scope(&self) -> Vec<u8> {
        let mut scope = Vec::with_capacity(128);
        for text in [Some(self.owner.as_str()), self.context.as_deref()] {
            let text = text.unwrap_or_default();
            scope.extend_from_slice(&(text.len() as u64).to_be_bytes());
            scope.extend_from_slice(text.as_bytes());
        }
        scope.extend_from_slice(&self.state.map_or(-1, i32::from).to_be_bytes());
        scope.extend_from_slice(&self.since_ms.unwrap_or(i64::MIN).to_be_bytes());
        scope
    }
}

/// Checks a `historyLength`; `None`: all messages.
///
/// # Errors
/// `Invalid` on `field` when it is negative.
pub fn history_length(field: &str, asked: Option<i32>) -> Result<Option<usize>, Fault> {
    asked
        .map(|n| {
            usize::try_from(n).map_err(|_| Fault::invalid(field, "must be 0 or more; leave it out for all"))
        })
        .transpose()
}

/// Whole milliseconds since the Unix epoch, a broken one rounded up: statuses begin at whole ones.
fn ms_up(field: &str, at: Timestamp) -> Result<i64, Fault> {
    if !(0..1_000_000_000).contains(&at.nanos) {
        return Err(Fault::invalid(field, "is not a timestamp: nanos must be from 0 to 999999999"));
    }
    let ms = i64::from(at.nanos).div_euclid(1_000_000) + i64::from(at.nanos % 1_000_000 != 0);
    Ok(at.seconds.saturating_mul(1_000).saturating_add(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut ListTasksRequest)) -> Result<Query, Fault> {
        let mut request = ListTasksRequest::default();
        change(&mut request);
        Query::check(Owner::local(), &request)
    }

    #[test]
    fn a_page_has_from_1_to_100_tasks_and_50_when_nothing_is_asked() {
        assert_eq!(check(|_| ()).unwrap().page, 50);
        for size in [1, 100] {
            assert_eq!(check(|r| r.page_size = Some(size)).unwrap().page, size as usize);
        }
        for size in [0, -1, 101, i32::MAX] {
            let fault = check(|r| r.page_size = Some(size)).unwrap_err();
            assert_eq!(fault.violations[0].field, "pageSize");
        }
    }

    #[test]
    fn a_negative_history_length_and_an_unknown_state_are_refused_by_name() {
        assert_eq!(check(|r| r.history_length = Some(-1)).unwrap_err().violations[0].field, "historyLength");
        assert_eq!(check(|r| r.status = 99).unwrap_err().violations[0].field, "status");
        assert_eq!(check(|r| r.history_length = Some(0)).unwrap().history, Some(0));
    }

    #[test]
    fn a_time_between_two_milliseconds_begins_at_the_later_one() {
        let at = |nanos| check(|r| r.status_timestamp_after = Some(Timestamp { seconds: 1, nanos }));
        assert_eq!(at(5_000_000).unwrap().since_ms, Some(1_005));
        assert_eq!(at(5_000_001).unwrap().since_ms, Some(1_006));
        assert_eq!(at(-1).unwrap_err().violations[0].field, "statusTimestampAfter");
    }

    #[test]
    fn the_latest_status_comes_first_and_ties_go_by_id() {
        let at = |status_ms, id| Cursor { status_ms, task: [id; 16] };
        let mut order = [at(1, 1), at(2, 9), at(2, 1), at(3, 5)];
        order.sort();
        assert_eq!(order, [at(3, 5), at(2, 1), at(2, 9), at(1, 1)]);
        assert_eq!(Cursor::read(&at(-7, 3).bytes()), at(-7, 3));
    }

    #[test]
    fn queries_that_differ_in_owner_or_filter_have_different_scopes() {
        let scopes = [
            check(|_| ()).unwrap().scope(),
            check(|r| r.context_id = "c".into()).unwrap().scope(),
            check(|r| r.set_status(TaskState::Working)).unwrap().scope(),
            check(|r| r.status_timestamp_after = Some(Timestamp::default())).unwrap().scope(),
            Query::check(Owner::parse("localc").unwrap(), &ListTasksRequest::default()).unwrap().scope(),
        ];
        for (at, scope) in scopes.iter().enumerate() {
            assert!(!scopes[..at].contains(scope));
        }
    }
}
