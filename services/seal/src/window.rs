//! How old or how far ahead of the checker's clock a seal may be.

use crate::SealFault;

/// The acceptance window around the checker's clock, in whole seconds, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How long ago a seal may have been created. Default 300 s.
    pub past_s_max: u32,
    /// How far in the future a seal may be created, for clocks that differ. Default 30 s.
    pub future_s_max: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { past_s_max: 300, future_s_max: 30 }
    }
}

impl Window {
    /// Checks `created` against `now`, both in Unix seconds.
    pub fn check(&self, created: i64, now: i64) -> Result<(), SealFault> {
        if created < self.oldest(now) {
            Err(SealFault::Stale)
        } else if created > now.saturating_add(i64::from(self.future_s_max)) {
            Err(SealFault::Future)
        } else {
            Ok(())
        }
    }

    /// The earliest `created` that is still accepted at `now`.
    pub(crate) fn oldest(&self, now: i64) -> i64 {
        now.saturating_sub(i64::from(self.past_s_max))
    }
}

#[cfg(test)]
mod tests {
    use super::Window;
    use crate::SealFault::{Future, Stale};

    #[test]
    fn both_edges_belong_to_the_window_and_the_next_second_does_not() {
        let now = 1_800_000_000;
        let check =
            |created, expected| assert_eq!(Window::default().check(created, now), expected, "{created}");
        check(now, Ok(()));
        check(now - 300, Ok(()));
        check(now - 301, Err(Stale));
        check(now + 30, Ok(()));
        check(now + 31, Err(Future));
        check(now * 1000, Err(Future));
        check(0, Err(Stale));
        check(-1, Err(Stale));
        check(i64::MAX, Err(Future));
        check(i64::MIN, Err(Stale));
    }

    #[test]
    fn clocks_at_the_end_of_time_do_not_overflow() {
        assert_eq!(Window::default().check(i64::MAX, i64::MAX), Ok(()));
        assert_eq!(Window::default().check(i64::MIN, i64::MIN), Ok(()));
    }
}
