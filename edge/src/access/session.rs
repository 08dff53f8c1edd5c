//! Sessions of the console: a random id in a cookie stands for an administrator. Kept in memory alone.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::COOKIE;
use sha2::{Digest, Sha256};

use super::Who;

/// Name of the cookie.
pub(crate) const COOKIE_NAME: &str = "weft_session";
/// How long a session lasts, in seconds: twelve hours.
pub(crate) const LASTS_S: u32 = 43_200;
/// Most sessions at once; the oldest goes first.
const SESSIONS_MAX: usize = 1_024;

/// All of one edge.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Open>);

#[derive(Default)]
struct Open {
    /// By SHA-256 of the id, so that no comparison tells how much of a guess is right.
    by_digest: HashMap<[u8; 32], Session>,
    /// In the order in which they began.
    order: VecDeque<[u8; 32]>,
}

/// One signed-in administrator.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) who: Arc<Who>,
    /// Of the policy it began under: another one ends it.
    pub(crate) version: u64,
    pub(crate) until_ms: i64,
}

// === impl Sessions ===

impl Sessions {
    pub(crate) fn open(&self, id: &str, session: Session) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = digest(id);
        while open.order.len() >= SESSIONS_MAX
            && let Some(oldest) = open.order.pop_front()
        {
            open.by_digest.remove(&oldest);
        }
        open.by_digest.insert(digest, session);
        open.order.push_back(digest);
    }

    /// The session of this id, while it lasts.
    pub(crate) fn find(&self, id: &str, version: u64, now_ms: i64) -> Option<Session> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let session = open.by_digest.get(&digest(id))?;
        (session.version == version && now_ms < session.until_ms).then(|| session.clone())
    }

    /// The session of this id, over or not.
    pub(super) fn any(&self, id: &str) -> Option<Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_digest.get(&digest(id)).cloned()
    }

    pub(crate) fn close(&self, id: &str) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = digest(id);
        if open.by_digest.remove(&digest).is_some() {
            open.order.retain(|kept| *kept != digest);
        }
    }
}

/// The id in the cookie of a request.
pub(crate) fn id(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE_NAME).map(|(_, id)| id)
}

fn digest(id: &str) -> [u8; 32] {
    Sha256::digest(id.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(version: u64) -> Session {
        Session { who: Who::local(), version, until_ms: 1_000 }
    }

    #[test]
    fn a_session_lasts_until_its_time_its_policy_or_its_owner_ends_it() {
        let sessions = Sessions::default();
        sessions.open("a", session(1));
        assert!(sessions.find("a", 1, 999).is_some());
        assert!(sessions.find("a", 1, 1_000).is_none() && sessions.find("a", 2, 0).is_none());
        assert!(sessions.find("b", 1, 0).is_none());
        sessions.close("a");
        assert!(sessions.find("a", 1, 0).is_none() && sessions.0.lock().unwrap().order.is_empty());
    }

    #[test]
    fn no_more_than_so_many_are_open() {
        let sessions = Sessions::default();
        for n in 0..SESSIONS_MAX + 10 {
            sessions.open(&n.to_string(), session(1));
        }
        assert!(sessions.find("9", 1, 0).is_none() && sessions.find("10", 1, 0).is_some());
        let open = sessions.0.lock().unwrap();
        assert_eq!((open.by_digest.len(), open.order.len()), (SESSIONS_MAX, SESSIONS_MAX));
    }

    #[test]
    fn the_id_is_found_among_other_cookies() {
        let headers = |value: &str| HeaderMap::from_iter([(COOKIE, value.parse().unwrap())]);
        assert_eq!(id(&headers("a=1; weft_session=x; b=2")), Some("x"));
        assert_eq!(id(&headers("weft_session2=x")), None);
    }
}
