//! Failures that strangers can cause as often as they like. The first of a kind is written at once; what follows within
//! a minute is counted, and written as one event.

use std::collections::BTreeMap;
use std::net::IpAddr;

use weft_proto::weft::AuditEvent;

/// How long the same failure is only counted, in milliseconds.
const WINDOW_MS: i64 = 60_000;
/// Kinds that are told apart at once. Further ones are counted together, whoever causes them.
const KINDS_MAX: usize = 256;

/// What counts as the same: action, reason and source.
type Kind = (String, String, String);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Failures {
    counted: BTreeMap<Kind, Counted>,
}

#[derive(Debug)]
struct Counted {
    since_ms: i64,
    /// The last of them, and how many came after the one that was written.
    last: AuditEvent,
    more: u32,
}

impl Failures {
    /// Takes a failure; the event when it is to be written now.
    pub(super) fn take(&mut self, event: AuditEvent, now_ms: i64) -> Option<AuditEvent> {
        let kind = (event.action.clone(), event.reason.clone(), source(&event.peer));
        let full = self.counted.len() >= KINDS_MAX;
        let kind = match self.counted.contains_key(&kind) {
            false if full => (kind.0, "MANY".to_owned(), String::new()),
            _ => kind,
        };
        if let Some(counted) = self.counted.get_mut(&kind) {
            counted.more = counted.more.saturating_add(1);
            counted.last = event;
            return None;
        }
        self.counted.insert(kind, Counted { since_ms: now_ms, last: event.clone(), more: 0 });
        Some(event)
    }

    /// What is to be written of the minutes that are over; `all`: of those that are not, too.
    pub(super) fn due(&mut self, now_ms: i64, all: bool) -> Vec<AuditEvent> {
        let over = |counted: &Counted| all || (now_ms - counted.since_ms).abs() >= WINDOW_MS;
        let ended = self.counted.extract_if(.., |_, counted| over(counted));
        ended
            .filter(|(_, counted)| counted.more > 0)
            .map(|((_, reason, source), counted)| AuditEvent {
                count: counted.more,
                reason,
                // Of several addresses, the network that they share.
                peer: source,
                ..counted.last
            })
            .collect()
    }
}

/// One end of the network: an address, or the /64 that one end has of IPv6.
fn source(peer: &str) -> String {
    match peer.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none() => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
        _ => peer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(reason: &str, peer: &str) -> AuditEvent {
        AuditEvent {
            action: "authenticate".into(),
            reason: reason.into(),
            peer: peer.into(),
            ..AuditEvent::default()
        }
    }

    #[test]
    fn the_first_is_written_and_the_rest_are_one_event_a_minute() {
        let mut failures = Failures::default();
        assert!(failures.take(failure("A", "10.0.0.1"), 0).is_some());
        for at in 1..=1_000 {
            assert!(failures.take(failure("A", "10.0.0.1"), at).is_none());
        }
        assert!(failures.take(failure("B", "10.0.0.1"), 5).is_some());
        assert!(failures.take(failure("A", "10.0.0.2"), 5).is_some());
        assert!(failures.due(59_999, false).is_empty());
        let due = failures.due(60_000, false);
        assert_eq!((due.len(), due[0].count, due[0].peer.as_str()), (1, 1_000, "10.0.0.1"));
        assert!(failures.take(failure("A", "10.0.0.1"), 60_001).is_some(), "a new minute");
        assert!(failures.due(60_002, true).is_empty());
    }

    #[test]
    fn a_flood_from_everywhere_is_bounded() {
        let mut failures = Failures::default();
        let written = (0..10_000_u32).filter(|at| {
            let peer = std::net::Ipv4Addr::from(*at).to_string();
            failures.take(failure("A", &peer), 0).is_some()
        });
        assert_eq!(written.count(), KINDS_MAX + 1);
        let due = failures.due(60_000, false);
        let count = u32::try_from(10_000 - KINDS_MAX - 1).unwrap();
        assert_eq!((due.len(), due[0].count, due[0].reason.as_str()), (1, count, "MANY"));
    }

    #[test]
    fn one_end_of_ipv6_is_its_network() {
        let mut failures = Failures::default();
        assert!(failures.take(failure("A", "2001:db8::1"), 0).is_some());
        assert!(failures.take(failure("A", "2001:db8::2"), 0).is_none());
        assert!(failures.take(failure("A", "2001:db8:0:1::2"), 0).is_some());
        assert_eq!(failures.due(0, true)[0].peer, "2001:db8:0:0::/64");
    }
}
