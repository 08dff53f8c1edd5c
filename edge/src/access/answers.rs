//! What the signer said of credentials, for as long as it said so. Only good ones are kept, so that nobody without one
//! can fill it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use super::Who;

/// Most answers kept; the oldest goes first.
const ANSWERS_MAX: usize = 4_096;

type Digest = [u8; 32];

#[derive(Default)]
pub(super) struct Answers(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    by_digest: HashMap<Digest, Answer>,
    /// Digests in the order in which they came, each once.
    order: VecDeque<Digest>,
}

struct Answer {
    who: Arc<Who>,
    /// Of the policy it was given under.
    version: u64,
    until_ms: i64,
}

// === impl Answers ===

impl Answers {
    /// The answer, while it holds: under the same policy, before its time is over.
    pub(super) fn get(&self, digest: &Digest, version: u64, now_ms: i64) -> Option<Arc<Who>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = kept.by_digest.get(digest)?;
        (answer.version == version && now_ms < answer.until_ms).then(|| Arc::clone(&answer.who))
    }

    pub(super) fn keep(&self, digest: Digest, who: Arc<Who>, version: u64, until_ms: i64, now_ms: i64) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        while let Some(oldest) = kept.order.front() {
            let stale =
                kept.by_digest.get(oldest).is_none_or(|a| a.version != version || a.until_ms <= now_ms);
            if !stale && kept.order.len() < ANSWERS_MAX {
                break;
            }
            kept.by_digest.remove(oldest);
            kept.order.pop_front();
        }
        if kept.by_digest.insert(digest, Answer { who, version, until_ms }).is_none() {
            kept.order.push_back(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_its_time_under_its_policy() {
        let answers = Answers::default();
        answers.keep([1; 32], Who::local(), 7, 1_000, 0);
        assert!(answers.get(&[1; 32], 7, 999).is_some());
        assert!(answers.get(&[1; 32], 7, 1_000).is_none());
        assert!(answers.get(&[1; 32], 8, 1).is_none());
        assert!(answers.get(&[2; 32], 7, 1).is_none());
    }

    #[test]
    fn no_more_than_so_many_are_kept() {
        let answers = Answers::default();
        let digest = |n: usize| std::array::from_fn(|i| n.to_le_bytes().get(i).copied().unwrap_or_default());
        for n in 0..ANSWERS_MAX * 3 {
            answers.keep(digest(n), Who::local(), 1, 10, 0);
        }
        let kept = answers.0.lock().unwrap();
        assert_eq!((kept.by_digest.len(), kept.order.len()), (ANSWERS_MAX, ANSWERS_MAX));
        drop(kept);
        assert!(answers.get(&digest(0), 1, 0).is_none());
        assert!(answers.get(&digest(ANSWERS_MAX * 3 - 1), 1, 0).is_some());
        answers.keep(digest(0), Who::local(), 2, 10, 0);
        assert_eq!(answers.0.lock().unwrap().by_digest.len(), 1, "another policy leaves nothing of the old");
    }
}
