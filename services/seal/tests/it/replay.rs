//! Each seal is good once, and a forger can neither use up another's nonce nor fill the memory.

use std::sync::Arc;

use weft_seal::SealFault::{self, BeforeStart, Busy, Replayed, Signature};
use weft_seal::{CheckKey, Mode, Nonces, Trust, Verifier, Window};

use crate::world::{Arrived, HOP, NOW, key, verifier};

fn starting_at(started: i64, capacity: usize) -> (Verifier, Arc<Nonces>) {
    let nonces = Arc::new(Nonces::new(Window::default(), capacity, started));
    let key = CheckKey::from(&key(Mode::Ed25519));
    (Verifier::of_one("crm", "mesh", key, Arc::clone(&nonces)), nonces)
}

fn open(verifier: &Verifier, call: &Arrived, now: i64) -> Result<(), SealFault> {
    verifier.open(&call.call(), now).map(|_| ())
}

#[test]
fn the_same_bytes_are_accepted_once_at_any_time() {
    let verifier = verifier();
    let call = Arrived::sealed(&key(Mode::Ed25519), NOW);
    assert_eq!(open(&verifier, &call, NOW), Ok(()));
    for later in [0, 10, 299, 300] {
        assert_eq!(open(&verifier, &call, NOW + later), Err(Replayed));
    }
    assert_eq!(open(&verifier, &call, NOW + 301), Err(SealFault::Stale));
    assert_eq!(open(&verifier, &call, NOW), Err(Replayed), "also when the clock is set back");
}

#[test]
fn of_twenty_at_once_one_is_accepted() {
    let verifier = verifier();
    let call = Arrived::sealed(&key(Mode::Ed25519), NOW);
    let accepted = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..20).map(|_| scope.spawn(|| open(&verifier, &call, NOW).is_ok())).collect();
        tries.into_iter().map(|one| one.join().unwrap()).filter(|accepted| *accepted).count()
    });
    assert_eq!(accepted, 1);
}

#[test]
fn a_forgery_leaves_no_trace_and_burns_no_nonce() {
    let (verifier, nonces) = starting_at(NOW - 100, 10);
    let call = Arrived::sealed(&key(Mode::Ed25519), NOW);
    let mut forged = call.clone();
    forged.set("weft-depth", "9");
    for _ in 0..1000 {
        assert_eq!(open(&verifier, &forged, NOW), Err(Signature));
    }
    assert_eq!(nonces.held(), 0);
    assert_eq!(open(&verifier, &call, NOW), Ok(()));
}

#[test]
fn a_full_memory_refuses_new_calls_rather_than_forget_a_live_one() {
    let (verifier, nonces) = starting_at(NOW - 100, 3);
    let calls: Vec<_> = (0..4).map(|n| Arrived::sealed(&key(Mode::Ed25519), NOW + n)).collect();
    for call in &calls[..3] {
        assert_eq!(open(&verifier, call, NOW), Ok(()));
    }
    assert_eq!(open(&verifier, &calls[3], NOW), Err(Busy));
    assert_eq!(open(&verifier, &calls[0], NOW), Err(Replayed));
    assert_eq!(nonces.held(), 3);
    assert_eq!(open(&verifier, &calls[3], NOW + 301), Ok(()));
}

#[test]
fn a_restart_does_not_reopen_the_window() {
    let call = Arrived::sealed(&key(Mode::Ed25519), NOW);
    let (first, _) = starting_at(NOW - 100, 10);
    assert_eq!(open(&first, &call, NOW), Ok(()));
    for restarted in [NOW, NOW + 1, NOW + 299] {
        let (second, _) = starting_at(restarted, 10);
        assert_eq!(open(&second, &call, restarted), Err(BeforeStart));
        let fresh = Arrived::sealed(&key(Mode::Ed25519), restarted + 1);
        assert_eq!(open(&second, &fresh, restarted + 1), Ok(()));
    }
}

#[test]
fn changed_trust_keeps_the_memory() {
    let (first, nonces) = starting_at(NOW - 100, 10);
    let call = Arrived::sealed(&key(Mode::Ed25519), NOW);
    assert_eq!(open(&first, &call, NOW), Ok(()));
    let mut trust = Trust::new();
    trust.add("mesh", &key(Mode::Ed25519)).unwrap();
    trust.add("other", &key(Mode::Derived)).unwrap();
    let second = Verifier::new("crm", trust, nonces);
    assert_eq!(open(&second, &call, NOW), Err(Replayed));
    let other = Arrived::sealed_as(&key(Mode::Derived), NOW, "crm", "x", HOP);
    assert_eq!(open(&second, &other, NOW), Ok(()));
}
