//! What every backend must do with what is kept by owner.

use std::sync::Arc;

use weft_proto::a2a::TaskState;
use weft_tasks::TaskId;
use weft_tasks::record::{Conversation, Delivery, Head, Replay};
use weft_tasks::store::{Commit, Full, Keep, Limits, PushChange, Refused, Store, Used};

use super::*;

/// A commit of a new task of so many bytes, and what its owner may keep.
fn sized(n: u64, owner: &str, state: TaskState, ms: i64, bytes: u64, limits: Limits) -> (Sample, Commit) {
    let (mut sample, mut commit) = new(n, owner, "c", state, ms);
    (sample.head.bytes, sample.head.turn) = (bytes, 1);
    commit.head = Arc::new(sample.head.clone());
    commit.limits = limits;
    (sample, commit)
}

fn tasks(tasks_max: u64) -> Limits {
    Limits { tasks_max, ..Limits::default() }
}

pub(crate) async fn what_an_owner_keeps_is_counted_over_all_tenants<S: Store>(store: &S) {
    let mut kept = Vec::new();
    for (n, owner) in [(1, "p:ci"), (2, "crm/p:ci"), (3, "erp/p:ci"), (4, "p:ci2"), (5, "crm/p:c")] {
        let (sample, commit) = sized(n, owner, TaskState::Submitted, 1_000, 10, Limits::default());
        store.commit(commit).await.unwrap();
        kept.push(sample);
    }
    let used = async |base: &str| {
        let Used { tasks, bytes } = store.used(base).await.unwrap();
        (tasks, bytes)
    };
    assert_eq!((used("p:ci").await, used("p:ci2").await, used("p:c").await), ((3, 30), (1, 10), (1, 10)));
    let mut grown = moved(&mut kept[1], TaskState::Completed, 2_000);
    Arc::make_mut(&mut grown.head).bytes = 25;
    kept[1].head.bytes = 25;
    store.commit(grown).await.unwrap();
    assert_eq!(used("p:ci").await, (3, 45));
    // A webhook is none of the bytes of records.
    store
        .commit(hooked(&mut kept[1], 1, PushChange::Set(hook("crm/p:ci", "a"), Delivery::default())))
        .await
        .unwrap();
    assert!(store.remove(kept[1].head.clone()).await.unwrap());
    assert_eq!(used("p:ci").await, (2, 20));
    let of = async |base: &str, after, most| {
        let heads = store.of_base(base, after, most).await.unwrap();
        heads.iter().map(|head| head.id()).collect::<Vec<_>>()
    };
    assert_eq!((of("p:ci", None, 9).await, of("p:ci", None, 1).await), (vec![id(1), id(3)], vec![id(1)]));
    assert_eq!((of("p:ci", Some(id(1)), 9).await, of("p", None, 9).await), (vec![id(3)], vec![]));
}

pub(crate) async fn the_oldest_ended_task_of_an_owner_makes_room_with_all_it_had<S: Store>(store: &S) {
    let key = Replay { by_message: false, key: "k".into() };
    // The first to end was made last, and in another tenant.
    for (n, owner, ms) in [(1, "p:ci", 3_000), (2, "p:ci", 2_000), (3, "crm/p:ci", 1_000)] {
        let (_, mut commit) = sized(n, owner, TaskState::Completed, ms, 10, tasks(3));
        if n == 3 {
            keyed(&mut commit, key.clone());
        }
        assert_eq!(store.commit(commit).await, Ok(vec![]));
    }
    store.commit(sized(4, "p:other", TaskState::Completed, 1, 10, tasks(3)).1).await.unwrap();
    let (_, next) = sized(5, "p:ci", TaskState::Submitted, 4_000, 10, tasks(3));
    assert_eq!(store.commit(next).await, Ok(vec![id(3)]));
    assert_eq!(store.load(id(3)).await.unwrap(), None);
    assert_eq!(store.replayed("crm/p:ci", &key).await.unwrap(), None);
    assert!(store.list(&query("crm/p:ci", 9, |_| ())).await.unwrap().heads.is_empty());
    assert_eq!(store.used("p:ci").await.unwrap(), Used { tasks: 3, bytes: 30 });
    assert_eq!(store.tasks(), 4);
    // Two at once make room twice.
    let more = [6, 7].map(|n| store.commit(sized(n, "p:ci", TaskState::Submitted, 5_000, 10, tasks(3)).1));
    let mut gone: Vec<TaskId> =
        futures::future::join_all(more).await.into_iter().flat_map(Result::unwrap).collect();
    gone.sort();
    assert_eq!(gone, [id(1), id(2)]);
    assert!(store.load(id(4)).await.unwrap().is_some());
}

pub(crate) async fn an_owner_whose_tasks_are_all_active_is_refused_and_nothing_goes<S: Store>(store: &S) {
    for (n, state) in [(1, TaskState::Working), (2, TaskState::InputRequired)] {
        store.commit(sized(n, "p:ci", state, 1_000, 10, tasks(2)).1).await.unwrap();
    }
    let (_, third) = sized(3, "crm/p:ci", TaskState::Submitted, 2_000, 10, tasks(2));
    assert_eq!(store.commit(third.clone()).await, Err(Refused::Full(Full::OwnerTasks)));
    assert_eq!((store.load(id(3)).await.unwrap(), store.tasks()), (None, 2));
    // Others are not held back, and neither is a limit that nobody set.
    store.commit(sized(4, "p:other", TaskState::Submitted, 2_000, 10, tasks(2)).1).await.unwrap();
    store.commit(Commit { limits: Limits::default(), ..third }).await.unwrap();
}

pub(crate) async fn bytes_make_room_too_and_only_when_that_helps<S: Store>(store: &S) {
    let bytes = |bytes_max| Limits { bytes_max, ..Limits::default() };
    for n in 1..=3 {
        store.commit(sized(n, "p:ci", TaskState::Completed, n as i64, 100, bytes(350)).1).await.unwrap();
    }
    let (_, large) = sized(4, "p:ci", TaskState::Submitted, 9, 400, bytes(350));
    assert_eq!(store.commit(large).await, Err(Refused::Full(Full::OwnerBytes)));
    assert_eq!(store.used("p:ci").await.unwrap(), Used { tasks: 3, bytes: 300 });
    let (_, fits) = sized(5, "p:ci", TaskState::Submitted, 9, 150, bytes(350));
    assert_eq!(store.commit(fits).await, Ok(vec![id(1)]));
    assert_eq!(store.used("p:ci").await.unwrap(), Used { tasks: 3, bytes: 350 });
}

pub(crate) async fn what_makes_room_may_have_the_key_that_comes<S: Store>(store: &S) {
    let key = |key: &str| Replay { by_message: false, key: key.into() };
    let (_, mut first) = sized(1, "p:ci", TaskState::Completed, 1, 10, tasks(1));
    keyed(&mut first, key("a"));
    store.commit(first).await.unwrap();
    // Taken in the order in which they came, the first of these makes the key of the second free.
    let (_, second) = sized(2, "p:ci", TaskState::Completed, 2, 10, tasks(1));
    let (_, mut third) = sized(3, "p:other", TaskState::Completed, 3, 10, tasks(1));
    keyed(&mut third, key("a"));
    let (_, mut again) = sized(4, "p:ci", TaskState::Completed, 4, 10, tasks(9));
    keyed(&mut again, key("a"));
    let (second, third, again) =
        futures::join!(store.commit(second), store.commit(third), store.commit(again));
    assert_eq!((second, third, again), (Ok(vec![id(1)]), Ok(vec![]), Ok(vec![])));
    assert_eq!(store.replayed("p:ci", &key("a")).await.unwrap().unwrap().task, id(4));
    assert_eq!(store.replayed("p:other", &key("a")).await.unwrap().unwrap().task, id(3));
}

pub(crate) async fn a_context_takes_as_many_turns_as_it_may<S: Store>(store: &S) {
    let turns = |turns_max| Limits { turns_max, ..Limits::default() };
    let full = Err(Refused::Full(Full::Turns));
    let (mut sample, first) = sized(1, "p:ci", TaskState::InputRequired, 1, 1, turns(2));
    store.commit(first).await.unwrap();
    let turn = |sample: &mut Sample, limits| {
        let mut commit = moved(sample, TaskState::InputRequired, 2);
        Arc::get_mut(commit.record.as_mut().unwrap()).unwrap().turn = Some(Default::default());
        Commit { limits, ..commit }
    };
    store.commit(turn(&mut sample, turns(2))).await.unwrap();
    let before = sample.clone();
    assert_eq!(store.commit(turn(&mut sample, turns(2))).await, full);
    // Another task of the context is one of its turns too; of another tenant or context it is not.
    assert_eq!(store.commit(sized(2, "p:ci", TaskState::Completed, 1, 1, turns(2)).1).await, full);
    store.commit(sized(3, "crm/p:ci", TaskState::Completed, 1, 1, turns(2)).1).await.unwrap();
    let (_, mut other) = sized(4, "p:ci", TaskState::Completed, 1, 1, turns(2));
    Arc::make_mut(&mut other.head).context = "d".into();
    store.commit(other).await.unwrap();
    // What a worker adds is none, and a higher limit holds at once.
    sample = before;
    store.commit(moved(&mut sample, TaskState::Working, 3)).await.unwrap();
    store.commit(turn(&mut sample, turns(3))).await.unwrap();
    // With its last task the context is gone.
    store.commit(moved(&mut sample, TaskState::Completed, 4)).await.unwrap();
    assert!(store.remove(sample.head.clone()).await.unwrap());
    store.commit(sized(5, "p:ci", TaskState::Completed, 1, 1, turns(1)).1).await.unwrap();
}

pub(crate) async fn ended_tasks_are_kept_as_long_as_their_owner_may<S: Store>(store: &S) {
    const HOUR: i64 = 3_600_000;
    for (n, owner, hours, ms) in [
        (1, "p:ci", 0, 0),
        (2, "anon:x", 0, 5),
        (3, "crm/anon:x", 0, 4),
        (4, "p:ci", 2, 1),
        (5, "anon:x", 2, 3),
    ] {
        let (_, mut commit) = sized(n, owner, TaskState::Failed, ms, 1, Limits::default());
        Arc::make_mut(&mut commit.head).keep_hours = hours;
        store.commit(commit).await.unwrap();
    }
    store.commit(sized(6, "p:ci", TaskState::Working, 0, 1, Limits::default()).1).await.unwrap();
    let keep = Keep { hours: 10, anonymous_hours: 1 };
    let over = async |now_ms| {
        let mut ids: Vec<_> = store.over(keep, now_ms, 9).await.unwrap().iter().map(Head::id).collect();
        ids.sort();
        ids
    };
    assert_eq!(over(HOUR + 4).await, []);
    assert_eq!(over(HOUR + 5).await, [id(3)]);
    assert_eq!(over(2 * HOUR + 4).await, [2, 3, 4, 5].map(id));
    assert_eq!(over(10 * HOUR + 1).await, [1, 2, 3, 4, 5].map(id));
    // Of all the first to end, whoever keeps it for how long.
    assert_eq!(store.oldest().await.unwrap().unwrap().id(), id(1));
}

pub(crate) async fn a_task_is_read_by_its_owner_alone<S: Store>(store: &S) {
    for (n, state) in [(1, TaskState::Working), (2, TaskState::Completed)] {
        store.commit(sized(n, "p:ci", state, 1, 1, Limits::default()).1).await.unwrap();
        assert_eq!(store.load_of("p:ci", id(n)).await.unwrap(), store.load(id(n)).await.unwrap());
        for foreign in ["p:c", "crm/p:ci", ""] {
            assert_eq!(store.load_of(foreign, id(n)).await.unwrap(), None);
        }
    }
    assert_eq!(store.load_of("p:ci", id(3)).await.unwrap(), None);
}

pub(crate) async fn a_session_lasts_as_long_as_its_context<S: Store>(store: &S) {
    let left = async |owner, context, capability| store.session(owner, context, capability).await.unwrap();
    assert_eq!(left("p:ci", "c", "talk").await, None);
    let mut kept = Vec::new();
    for (n, owner) in [(1, "p:ci"), (2, "p:ci"), (3, "crm/p:ci")] {
        let (mut sample, commit) = sized(n, owner, TaskState::Submitted, 1, 1, Limits::default());
        store.commit(commit).await.unwrap();
        sample.head.capability = if n == 2 { "read" } else { "talk" }.into();
        let ended = moved(&mut sample, TaskState::Completed, 2);
        store.commit(Commit { session: Some(format!("s{n}")), ..ended }).await.unwrap();
        kept.push(sample.head);
    }
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(left("p:ci", "c", "talk").await, text("s1"));
    assert_eq!(left("p:ci", "c", "read").await, text("s2"));
    assert_eq!(left("crm/p:ci", "c", "talk").await, text("s3"));
    assert_eq!((left("p:ci", "d", "talk").await, left("erp/p:ci", "c", "talk").await), (None, None));
    assert!(store.remove(kept[0].clone()).await.unwrap());
    assert_eq!(left("p:ci", "c", "talk").await, text("s1"));
    assert!(store.remove(kept[1].clone()).await.unwrap());
    assert_eq!((left("p:ci", "c", "talk").await, left("p:ci", "c", "read").await), (None, None));
    assert_eq!(left("crm/p:ci", "c", "talk").await, text("s3"));
}

fn talk(owner: &str, peer: &str, context: &str) -> Conversation {
    Conversation { owner: owner.into(), peer: peer.into(), context: context.into(), begun_ms: 7 }
}

pub(crate) async fn a_conversation_is_begun_once_and_renewed_when_asked<S: Store>(store: &S) {
    assert_eq!(store.conversation("p:ci", "hermes").await.unwrap(), None);
    // Of two that begin the first at once, one does.
    let (one, two) = futures::join!(
        store.converse(talk("p:ci", "hermes", "a"), true),
        store.converse(talk("p:ci", "hermes", "b"), true)
    );
    assert_eq!((one, two), (Ok(()), Err(Refused::Conflict)));
    store.converse(talk("p:ci", "athena", "c"), true).await.unwrap();
    store.converse(talk("crm/p:ci", "hermes", "d"), true).await.unwrap();
    assert_eq!(store.conversation("p:ci", "hermes").await.unwrap(), Some(talk("p:ci", "hermes", "a")));
    store.converse(talk("p:ci", "hermes", "e"), false).await.unwrap();
    let all = [talk("p:ci", "athena", "c"), talk("p:ci", "hermes", "e")];
    assert_eq!(store.conversations("p:ci").await.unwrap(), all);
    assert_eq!(store.conversations("p:c").await.unwrap(), []);
}

pub(crate) async fn a_forgotten_owner_begins_nothing_until_it_is_gone<S: Store>(store: &S) {
    let (mut sample, first) = sized(1, "crm/p:ci", TaskState::Submitted, 1, 1, Limits::default());
    store.commit(first).await.unwrap();
    for owner in ["p:ci", "crm/p:ci", "p:ci2"] {
        store.converse(talk(owner, "hermes", "c"), true).await.unwrap();
    }
    store.forget("p:ci").await.unwrap();
    assert_eq!(store.forgetting(), ["p:ci"]);
    let next = || sized(2, "erp/p:ci", TaskState::Submitted, 1, 1, Limits::default()).1;
    assert_eq!(store.commit(next()).await, Err(Refused::Forgetting));
    for first in [true, false] {
        let begun = store.converse(talk("p:ci", "athena", "c"), first).await;
        assert_eq!(begun, Err(Refused::Forgetting));
    }
    store.commit(sized(3, "p:ci2", TaskState::Submitted, 1, 1, Limits::default()).1).await.unwrap();
    // What began may end.
    store.commit(moved(&mut sample, TaskState::Canceled, 2)).await.unwrap();
    assert!(store.remove(sample.head).await.unwrap());
    assert_eq!(store.forgotten("p:ci").await, Ok(2));
    assert_eq!((store.forgetting().len(), store.conversations("p:ci").await.unwrap().len()), (0, 0));
    assert_eq!(store.conversations("p:ci2").await.unwrap().len(), 1);
    store.commit(next()).await.unwrap();
}
