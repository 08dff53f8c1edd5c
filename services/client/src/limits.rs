//! Every bound of the client, with its default.

use std::time::Duration;

/// Bounds; none is unlimited.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Until a connection stands. Default 5 s.
    pub connect: Duration,
    /// Until a card is there. Default 10 s.
    pub card: Duration,
    /// Until an answer that is not a stream is there, and until a stream begins. Default 15 min: a blocking send
    /// answers when the task has ended.
    pub answer: Duration,
    /// Longest silence on an open stream, keep-alive comments counted as sound; then it counts as cut. Default 2 min.
    pub silence: Duration,
    /// Largest card. Default 1 MiB.
    pub card_bytes_max: usize,
    /// Largest answer that is not a stream. Default 64 MiB.
    pub answer_bytes_max: usize,
    /// Largest event of a stream. Default 16 MiB.
    pub event_bytes_max: usize,
    /// How often in a row a cut stream is taken up again, or a failed poll repeated, without any news. Default 8.
    pub attempts_max: u32,
    /// Pause before the first new attempt and between the first polls; doubled each time. Default 200 ms.
    pub pause: Duration,
    /// Longest pause. Default 5 s.
    pub pause_max: Duration,
    /// Cards kept for conditional requests. Default 64.
    pub cards_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(5),
            card: Duration::from_secs(10),
            answer: Duration::from_secs(15 * 60),
            silence: Duration::from_secs(2 * 60),
            card_bytes_max: 1 << 20,
            answer_bytes_max: 64 << 20,
            event_bytes_max: 16 << 20,
            attempts_max: 8,
            pause: Duration::from_millis(200),
            pause_max: Duration::from_secs(5),
            cards_max: 64,
        }
    }
}

impl Limits {
    /// The pause before attempt `n`, counted from 0.
    pub(crate) fn pause_before(&self, n: u32) -> Duration {
        self.pause.saturating_mul(1_u32.checked_shl(n).unwrap_or(u32::MAX)).min(self.pause_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_their_bound() {
        let limits = Limits::default();
        let millis: Vec<_> =
            [0, 1, 4, 5, 31, 32, 99].iter().map(|n| limits.pause_before(*n).as_millis()).collect();
        assert_eq!(millis, [200, 400, 3200, 5000, 5000, 5000, 5000]);
    }
}
