//! When a webhook is tried again: later each time, never at the same moment as others, and not for ever.

use std::time::Duration;

use crate::Settings;

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another attempt after this time.
    After(Duration),
    /// No further one.
    GiveUp,
}

/// Decides after the `attempts`-th failed attempt. `asked`: what the receiver's `Retry-After` says. `chance`: any
/// number, for the jitter.
pub(super) fn next(settings: &Settings, attempts: u32, asked: Option<Duration>, chance: u32) -> Next {
    if attempts >= settings.push_attempts_max {
        return Next::GiveUp;
    }
    let most = u64::from(settings.push_retry_ms_max);
    let doubled = u64::from(settings.push_retry_ms).saturating_mul(1 << attempts.saturating_sub(1).min(40));
    let whole = doubled.min(most);
    // Between half of it and all of it.
    let wait = whole - whole / 2 * u64::from(chance) / u64::from(u32::MAX);
    let asked = asked.map_or(0, |asked| u64::try_from(asked.as_millis()).unwrap_or(u64::MAX));
    Next::After(Duration::from_millis(wait.max(asked.min(most))))
}

/// What a `Retry-After` header says: seconds, or a date.
pub(super) fn retry_after(text: &str, now_ms: i64) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX / 1_000)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let date_ms = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
    let wait = i64::try_from(date_ms).ok()?.saturating_sub(now_ms);
    Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(attempts: u32, asked: Option<u64>, chance: u32) -> u64 {
        match next(&Settings::default(), attempts, asked.map(Duration::from_secs), chance) {
            Next::After(wait) => u64::try_from(wait.as_millis()).unwrap(),
            Next::GiveUp => panic!("given up"),
        }
    }

    #[test]
    fn waits_double_up_to_a_cap_and_differ_by_chance() {
        assert_eq!(
            [1, 2, 3, 9, 10, 99].map(|n| wait(n, None, 0)),
            [1_000, 2_000, 4_000, 256_000, 300_000, 300_000]
        );
        assert_eq!(wait(3, None, u32::MAX), 2_000);
        assert!((2_900..3_100).contains(&wait(3, None, u32::MAX / 2)));
    }

    #[test]
    fn a_receivers_wish_is_heard_within_the_cap() {
        assert_eq!(
            [wait(1, Some(60), 0), wait(1, Some(0), 0), wait(1, Some(86_400), 0)],
            [60_000, 1_000, 300_000]
        );
        assert_eq!(wait(9, Some(1), 0), 256_000);
    }

    #[test]
    fn it_ends() {
        assert_eq!(next(&Settings::default(), 100, None, 0), Next::GiveUp);
        assert_eq!(next(&Settings::default(), u32::MAX, None, 0), Next::GiveUp);
    }

    #[test]
    fn both_forms_of_the_header_are_read() {
        let seconds = |text| retry_after(text, 1_767_225_600_000).map(|wait| wait.as_secs());
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("Thu, 01 Jan 2026 00:01:00 GMT"), Some(60));
        assert_eq!(seconds("Wed, 01 Jan 2025 00:01:00 GMT"), Some(0));
        assert!(seconds("99999999999999999999999").is_some());
        for bad in ["", "-1", "soon", "1.5"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
