//! Task ids: UUIDs in their canonical text form, sixteen bytes in the store.

use std::fmt;

/// The id of a task. Ids sort by the time the task was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; 16]);

impl TaskId {
    /// Reads the canonical text only, so that one task has one name; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<TaskId> {
        if text.len() != 36 || text.bytes().any(|b| b.is_ascii_uppercase()) {
            return None;
        }
        uuid::Uuid::try_parse(text).ok().map(|id| TaskId(id.into_bytes()))
    }

    /// From the sixteen bytes.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> TaskId {
        TaskId(bytes)
    }

    /// The least id of a task made at this time or later.
    #[must_use]
    pub fn since_ms(unix_ms: i64) -> TaskId {
        let ms = u64::try_from(unix_ms).unwrap_or(0) << 16;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&ms.to_be_bytes());
        TaskId(bytes)
    }

    /// The sixteen bytes.
    #[must_use]
    pub fn bytes(self) -> [u8; 16] {
        self.0
    }

    pub(crate) fn halves(self) -> (u64, u64) {
        let whole = u128::from_be_bytes(self.0);
        #[allow(clippy::cast_possible_truncation, reason = "the two halves of 128 bits")]
        ((whole >> 64) as u64, whole as u64)
    }

    pub(crate) fn of_halves(high: u64, low: u64) -> TaskId {
        TaskId(((u128::from(high) << 64) | u128::from(low)).to_be_bytes())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(uuid::Uuid::from_bytes_ref(&self.0), f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "019f0e2a-7c11-7e54-8a3b-0123456789ab";

    #[test]
    fn an_id_reads_as_it_prints_and_splits_into_halves() {
        let id = TaskId::parse(TEXT).unwrap();
        let (high, low) = id.halves();
        assert_eq!((id.to_string().as_str(), TaskId::of_halves(high, low)), (TEXT, id));
    }

    #[test]
    fn another_spelling_of_an_id_is_no_id() {
        for bad in ["", "x", &TEXT.to_uppercase(), &TEXT.replace('-', ""), &format!("{{{TEXT}}}")] {
            assert_eq!(TaskId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ids_made_later_are_greater() {
        let made = TaskId::parse(TEXT).unwrap();
        let ms = i64::from_str_radix("019f0e2a7c11", 16).unwrap();
        assert!(TaskId::since_ms(ms) <= made && made < TaskId::since_ms(ms + 1));
    }
}
