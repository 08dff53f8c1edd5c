use weft_proto::weft::{Allowance, Principal};

use super::*;

fn of(settings: &Settings) -> Limits {
    Limits::new(settings, &Counters::register(&weft_chassis::Metrics::default()))
}

fn who(name: &str, allowance: Allowance) -> Who {
    let allowance = Some(allowance);
    Who::principal(Principal { owner: format!("p:{name}"), allowance, ..Principal::default() }).unwrap()
}

fn somebody(name: &str) -> Who {
    who(name, Allowance::default())
}

#[test]
fn a_caller_over_its_rate_is_told_when_to_come_again_and_others_go_on() {
    let limits = of(&Settings { rate_per_second: 1, rate_burst: 2, ..Settings::default() });
    let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
    assert!(limits.rate(one).is_ok() && limits.rate(one).is_ok());
    let fault = limits.rate(one).unwrap_err();
    assert!(fault.retry_after_ms.is_some_and(|ms| (1..=1_000).contains(&ms)), "{fault:?}");
    if limits.bucket(one) != limits.bucket(other) {
        assert!(limits.rate(other).is_ok());
    }
}

#[test]
fn a_principal_sends_as_many_messages_as_it_may_and_others_go_on() {
    let limits = of(&Settings { messages_per_minute: 3, ..Settings::default() });
    let own = who("a", Allowance { messages_per_minute: 2, ..Allowance::default() });
    assert!(limits.message(&own).is_ok() && limits.message(&own).is_ok());
    let fault = limits.message(&own).unwrap_err();
    assert!(fault.retry_after_ms.is_some_and(|ms| (1..=60_000).contains(&ms)), "{fault:?}");
    let common = somebody("b");
    assert!((0..3).all(|_| limits.message(&common).is_ok()) && limits.message(&common).is_err());
    assert!((0..10).all(|_| limits.message(&Who::local()).is_ok()), "whoever is local is not counted");
    let unbounded = of(&Settings::default());
    assert!((0..1_000).all(|_| unbounded.message(&common).is_ok()));
}

#[test]
fn neither_callers_nor_rates_fill_the_memory() {
    let limits = of(&Settings { messages_per_minute: 1, ..Settings::default() });
    for n in 0..200_000_u32 {
        let _ = limits.rate(IpAddr::V4(n.into()));
        let _ = limits.message(&somebody(&n.to_string()));
    }
    let buckets = usize::try_from(BUCKETS).unwrap();
    assert!(limits.rate.len() <= buckets, "{}", limits.rate.len());
    let messages = limits.messages_at(NonZeroU32::MIN).len();
    assert!(messages <= buckets, "{messages}");
    for n in 1..1_000 {
        let _ = limits.message(&who("a", Allowance { messages_per_minute: n, ..Allowance::default() }));
    }
    assert_eq!(limits.messages.lock().unwrap().len(), RATES_MAX);
}

#[test]
fn a_permit_comes_back_when_it_is_dropped() {
    let limits = of(&Settings { calls_max: 1, streams_max: 1, ..Settings::default() });
    let held = (limits.call().unwrap(), limits.stream(&somebody("a")).unwrap());
    assert!(limits.call().is_err() && limits.stream(&somebody("b")).is_err());
    drop(held);
    assert!(limits.call().is_ok() && limits.stream(&somebody("b")).is_ok());
}

#[test]
fn one_owner_cannot_take_every_stream() {
    let limits = of(&Settings { owner_streams_max: 2, ..Settings::default() });
    let (a, b) = (somebody("a"), somebody("b"));
    let held = [limits.stream(&a).unwrap(), limits.stream(&a).unwrap()];
    assert!(limits.stream(&a).is_err());
    assert!(limits.stream(&b).is_ok());
    let own = who("c", Allowance { streams_max: 1, ..Allowance::default() });
    let one = limits.stream(&own).unwrap();
    assert!(limits.stream(&own).is_err(), "the access file says less for this one");
    drop((held, one));
    assert!(limits.owners.lock().is_empty(), "nothing is kept of owners without a stream");
    assert!(limits.stream(&a).is_ok());
}
