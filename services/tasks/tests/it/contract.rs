//! What every backend must do. A backend's test file calls [`contract!`] with a way to open an empty store.

mod owners;

use std::sync::Arc;

pub(crate) use owners::*;
use weft_core::Owner;
use weft_core::list::Query;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{
    ListTasksRequest, Message, StreamResponse, Task, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use weft_proto::wkt::Timestamp;
use weft_tasks::TaskId;
use weft_tasks::record::{Delivery, Head, Push, Record, Replay, Turn};
use weft_tasks::store::{Commit, Keep, Limits, PushChange, Refused, Store, Webhook};

/// Runs every clause of the contract as a test of its own.
macro_rules! contract {
    ($open:expr) => {
        $crate::contract::contract!($open;
            a_commit_can_be_read_back_whole,
            a_commit_on_an_older_version_conflicts_and_changes_nothing,
            a_replay_key_leads_to_one_task_per_owner,
            records_are_read_from_the_one_that_holds_the_event,
            a_large_record_comes_back_whole,
            a_list_has_every_task_once_latest_first,
            a_list_filters_by_context_state_and_time,
            a_list_stays_whole_while_tasks_are_removed,
            totals_follow_every_move_between_states,
            running_tasks_are_known_and_settled_ones_are_not,
            ended_tasks_are_found_oldest_first_and_removed_with_all_they_had,
            many_commits_at_once_all_land,
            a_webhook_is_kept_replaced_and_deleted_with_its_commit,
            how_far_a_webhook_is_is_kept_only_while_it_is_there,
            webhooks_with_something_to_deliver_and_failing_ones_are_found,
            a_removed_task_leaves_no_webhook,
            what_an_owner_keeps_is_counted_over_all_tenants,
            the_oldest_ended_task_of_an_owner_makes_room_with_all_it_had,
            an_owner_whose_tasks_are_all_active_is_refused_and_nothing_goes,
            bytes_make_room_too_and_only_when_that_helps,
            what_makes_room_may_have_the_key_that_comes,
            a_context_takes_as_many_turns_as_it_may,
            ended_tasks_are_kept_as_long_as_their_owner_may,
            a_task_is_read_by_its_owner_alone,
            a_session_lasts_as_long_as_its_context,
            a_conversation_is_begun_once_and_renewed_when_asked,
            a_forgotten_owner_begins_nothing_until_it_is_gone,
        );
    };
    ($open:expr; $($clause:ident,)*) => {$(
        #[tokio::test]
        async fn $clause() {
            let (store, _keep) = $open.await;
            $crate::contract::$clause(&store).await;
        }
    )*};
}
pub(crate) use contract;

/// A task as the clauses write it.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) head: Head,
}

pub(crate) fn id(n: u64) -> TaskId {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&(1_000 + n).to_be_bytes()[2..]);
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    TaskId::new(bytes)
}

fn message(text: &str) -> Message {
    Message { message_id: text.into(), ..Message::default() }
}

/// A new task and the commit that writes it.
pub(crate) fn new(n: u64, owner: &str, context: &str, state: TaskState, ms: i64) -> (Sample, Commit) {
    let mut head = Head::new(id(n), owner, context);
    (head.version, head.seq, head.state, head.status_ms) = (1, 1, state.into(), ms);
    let at = Timestamp { seconds: ms / 1_000, nanos: 0 };
    let status = TaskStatus { state: state.into(), timestamp: Some(at), message: None };
    let task =
        Task { id: id(n).to_string(), context_id: context.into(), status: Some(status), ..Task::default() };
    let event = StreamResponse { payload: Some(Payload::Task(task)) };
    let turn = Turn { message: Some(message(&format!("m{n}"))), digest: vec![7; 32], ..Turn::default() };
    let record = Record { first: 1, events: vec![event], turn: Some(turn) };
    let commit = Commit { record: Some(Arc::new(record)), ..head_only(None, head.clone()) };
    (Sample { head }, commit)
}

pub(crate) fn keyed(commit: &mut Commit, replay: Replay) {
    Arc::get_mut(commit.record.as_mut().unwrap()).unwrap().turn.as_mut().unwrap().replays.push(replay);
}

/// The commit that moves a task to another status.
pub(crate) fn moved(sample: &mut Sample, state: TaskState, ms: i64) -> Commit {
    let base = sample.head.clone();
    let head = &mut sample.head;
    (head.version, head.seq, head.state, head.status_ms) = (base.version + 1, base.seq + 1, state.into(), ms);
    let status = TaskStatus {
        state: state.into(),
        message: Some(message(&format!("s{}", head.seq))),
        timestamp: None,
    };
    let update = TaskStatusUpdateEvent { status: Some(status), ..TaskStatusUpdateEvent::default() };
    let event = StreamResponse { payload: Some(Payload::StatusUpdate(update)) };
    let record = Record { first: head.seq, events: vec![event], turn: None };
    Commit { record: Some(Arc::new(record)), ..head_only(Some(base), head.clone()) }
}

/// A commit of which nothing comes but a head.
pub(crate) fn head_only(base: Option<Head>, head: Head) -> Commit {
    let (base, head) = (base.map(Arc::new), Arc::new(head));
    Commit { base, head, record: None, push: None, limits: Limits::default(), session: None }
}

async fn put<S: Store>(store: &S, n: u64, owner: &str, context: &str, state: TaskState, ms: i64) -> Sample {
    let (sample, commit) = new(n, owner, context, state, ms);
    store.commit(commit).await.unwrap();
    sample
}

pub(crate) fn query(owner: &str, page: usize, change: impl FnOnce(&mut ListTasksRequest)) -> Query {
    let mut request = ListTasksRequest { page_size: Some(page as i32), ..ListTasksRequest::default() };
    change(&mut request);
    Query::check(Owner::parse(owner).unwrap(), &request).unwrap()
}

/// All pages of a list; the totals must agree.
pub(crate) async fn all<S: Store>(store: &S, mut query: Query) -> Vec<TaskId> {
    let mut ids = Vec::new();
    loop {
        let page = store.list(&query).await.unwrap();
        assert!(page.heads.len() <= query.page);
        ids.extend(page.heads.iter().map(|head| head.id()));
        match page.more {
            Some(cursor) => query.after = Some(cursor),
            None => return ids,
        }
    }
}

pub(crate) async fn a_commit_can_be_read_back_whole<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Submitted, 1_000).await;
    store.commit(moved(&mut sample, TaskState::Working, 2_000)).await.unwrap();
    store.commit(moved(&mut sample, TaskState::Completed, 3_000)).await.unwrap();
    let stored = store.load(id(1)).await.unwrap().unwrap();
    assert_eq!(*stored.head, sample.head);
    let history: Vec<_> = stored.task.history.iter().map(|m| m.message_id.as_str()).collect();
    assert_eq!((history, stored.task.status.unwrap().state()), (vec!["m1", "s2"], TaskState::Completed));
    assert_eq!(stored.turn.message.unwrap().message_id, "m1");
    assert_eq!(store.load(id(2)).await.unwrap(), None);
}

pub(crate) async fn a_commit_on_an_older_version_conflicts_and_changes_nothing<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Submitted, 1_000).await;
    let stale = sample.clone();
    store.commit(moved(&mut sample, TaskState::Canceled, 2_000)).await.unwrap();
    let late = moved(&mut stale.clone(), TaskState::Completed, 3_000);
    assert_eq!(store.commit(late).await, Err(Refused::Conflict));
    let (_, again) = new(1, "local", "c", TaskState::Submitted, 4_000);
    assert_eq!(store.commit(again).await, Err(Refused::Conflict));
    assert_eq!(store.load(id(1)).await.unwrap().unwrap().head.as_ref(), &sample.head);
}

pub(crate) async fn a_replay_key_leads_to_one_task_per_owner<S: Store>(store: &S) {
    let key = |by_message| Replay { by_message, key: "k".into() };
    for (n, owner) in [(1, "local"), (2, "other")] {
        let (_, mut commit) = new(n, owner, "c", TaskState::Submitted, 1_000);
        keyed(&mut commit, key(false));
        store.commit(commit).await.unwrap();
    }
    let (_, mut second) = new(3, "local", "c", TaskState::Submitted, 1_000);
    keyed(&mut second, key(false));
    match store.commit(second).await {
        Err(Refused::Taken(claimed)) => assert_eq!((claimed.task, claimed.digest), (id(1), vec![7; 32])),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.load(id(3)).await.unwrap(), None);
    assert_eq!(store.replayed("other", &key(false)).await.unwrap().unwrap().task, id(2));
    assert_eq!(store.replayed("local", &key(true)).await.unwrap(), None);
}

pub(crate) async fn records_are_read_from_the_one_that_holds_the_event<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Submitted, 1_000).await;
    let mut two = moved(&mut sample, TaskState::Working, 2_000);
    let events = &mut Arc::get_mut(two.record.as_mut().unwrap()).unwrap().events;
    events.push(events[0].clone());
    Arc::make_mut(&mut two.head).seq += 1;
    sample.head.seq += 1;
    store.commit(two).await.unwrap();
    store.commit(moved(&mut sample, TaskState::Completed, 3_000)).await.unwrap();
    let firsts = async |from, most| {
        let records = store.records(id(1), from, most).await.unwrap();
        records.iter().map(|record| record.first).collect::<Vec<_>>()
    };
    assert_eq!(firsts(1, 9).await, [1, 2, 4]);
    assert_eq!(firsts(3, 9).await, [2, 4]);
    assert_eq!(firsts(2, 1).await, [2]);
    assert_eq!(firsts(4, 9).await, [4]);
    assert!(store.records(id(9), 1, 9).await.unwrap().is_empty());
}

pub(crate) async fn a_large_record_comes_back_whole<S: Store>(store: &S) {
    let (_, mut commit) = new(1, "local", "c", TaskState::Submitted, 1_000);
    let text: String = (0..300_000u32).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
    Arc::get_mut(commit.record.as_mut().unwrap())
        .unwrap()
        .turn
        .as_mut()
        .unwrap()
        .traceparent
        .clone_from(&text);
    store.commit(commit).await.unwrap();
    put(store, 2, "local", "c", TaskState::Submitted, 1_000).await;
    assert_eq!(store.load(id(1)).await.unwrap().unwrap().turn.traceparent, text);
}

pub(crate) async fn a_list_has_every_task_once_latest_first<S: Store>(store: &S) {
    let states = [TaskState::Completed, TaskState::Submitted, TaskState::InputRequired, TaskState::Working];
    for n in 0..60 {
        // Two times only, so that most places are ties.
        let state = states[(n % 4) as usize];
        put(store, n, "local", "c", state, 1_000 + 1_000 * (n as i64 % 2)).await;
    }
    put(store, 99, "other", "c", TaskState::Completed, 9_000).await;
    let mut expected: Vec<_> = (0..60u64).map(|n| (n % 2 == 0, n)).collect();
    expected.sort();
    let expected: Vec<_> = expected.into_iter().map(|(_, n)| id(n)).collect();
    for page in [1, 7, 59, 60, 100] {
        assert_eq!(all(store, query("local", page, |_| ())).await, expected, "pages of {page}");
    }
    assert_eq!(store.list(&query("local", 7, |_| ())).await.unwrap().total, 60);
    assert_eq!(store.list(&query("nobody", 7, |_| ())).await.unwrap().total, 0);
}

pub(crate) async fn a_list_filters_by_context_state_and_time<S: Store>(store: &S) {
    for n in 0..40 {
        let state = if n % 2 == 0 { TaskState::Completed } else { TaskState::Working };
        let context = if n % 4 < 2 { "a" } else { "b" };
        put(store, n, "local", context, state, 1_000 * n as i64).await;
    }
    let check = async |change: &dyn Fn(&mut ListTasksRequest), wanted: &dyn Fn(u64) -> bool| {
        let expected: Vec<_> = (0..40).rev().filter(|n| wanted(*n)).map(id).collect();
        let query = query("local", 3, change);
        assert_eq!(store.list(&query).await.unwrap().total, expected.len() as u64);
        assert_eq!(all(store, query).await, expected);
    };
    check(&|r| r.context_id = "a".into(), &|n| n % 4 < 2).await;
    check(&|r| r.set_status(TaskState::Working), &|n| n % 2 == 1).await;
    check(&|r| r.set_status(TaskState::Completed), &|n| n % 2 == 0).await;
    check(&|r| r.set_status(TaskState::Failed), &|_| false).await;
    let since =
        |r: &mut ListTasksRequest, seconds| r.status_timestamp_after = Some(Timestamp { seconds, nanos: 0 });
    check(&|r| since(r, 30), &|n| n >= 30).await;
    check(
        &|r| {
            r.context_id = "b".into();
            r.set_status(TaskState::Completed);
            since(r, 11);
        },
        &|n| n % 4 == 2 && n >= 11,
    )
    .await;
}

pub(crate) async fn a_list_stays_whole_while_tasks_are_removed<S: Store>(store: &S) {
    let mut heads = Vec::new();
    for n in 0..30 {
        heads.push(put(store, n, "local", "c", TaskState::Completed, 1_000).await.head);
    }
    let first = query("local", 10, |_| ());
    let page = store.list(&first).await.unwrap();
    // The task at the cursor, one before and one after it go.
    for n in [3, 9, 12] {
        assert!(store.remove(heads[n].clone()).await.unwrap());
    }
    let rest = all(store, Query { after: page.more, ..first }).await;
    let expected: Vec<_> = (10..30).filter(|n| *n != 12).map(id).collect();
    assert_eq!(rest, expected);
}

pub(crate) async fn totals_follow_every_move_between_states<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Submitted, 1_000).await;
    let total =
        async |state: TaskState| store.list(&query("local", 1, |r| r.set_status(state))).await.unwrap().total;
    let path = [
        TaskState::Working,
        TaskState::InputRequired,
        TaskState::AuthRequired,
        TaskState::Working,
        TaskState::Completed,
    ];
    for (ms, state) in (2..).zip(path) {
        let before = sample.head.state();
        store.commit(moved(&mut sample, state, ms * 1_000)).await.unwrap();
        assert_eq!((total(before).await, total(state).await), (0, 1), "{before:?} to {state:?}");
        assert_eq!(total(TaskState::Unspecified).await, 1);
        assert_eq!(all(store, query("local", 5, |_| ())).await, [id(1)]);
        assert_eq!(all(store, query("local", 5, |r| r.context_id = "c".into())).await, [id(1)]);
    }
    assert_eq!(store.tasks(), 1);
    assert!(store.remove(sample.head.clone()).await.unwrap());
    assert_eq!((store.tasks(), total(TaskState::Completed).await), (0, 0));
}

pub(crate) async fn running_tasks_are_known_and_settled_ones_are_not<S: Store>(store: &S) {
    put(store, 2, "local", "c", TaskState::Working, 1_000).await;
    put(store, 1, "other", "c", TaskState::Submitted, 2_000).await;
    put(store, 3, "local", "c", TaskState::InputRequired, 2_000).await;
    let mut done = put(store, 4, "local", "c", TaskState::Submitted, 2_000).await;
    store.commit(moved(&mut done, TaskState::Failed, 3_000)).await.unwrap();
    let ids: Vec<_> = store.running().iter().map(|head| head.id()).collect();
    assert_eq!(ids, [id(1), id(2)]);
}

pub(crate) async fn ended_tasks_are_found_oldest_first_and_removed_with_all_they_had<S: Store>(store: &S) {
    for n in 0..10 {
        let state = if n % 3 == 0 { TaskState::InputRequired } else { TaskState::Completed };
        let (_, mut commit) = new(n, "local", "c", state, 9_000 - n as i64);
        let replay = Replay { by_message: false, key: format!("k{n}") };
        keyed(&mut commit, replay);
        store.commit(commit).await.unwrap();
    }
    let keep = Keep { hours: 1, anonymous_hours: 1 };
    let found = store.over(keep, 3_600_000 + 8_996, 9).await.unwrap();
    let ids: Vec<_> = found.iter().map(Head::id).collect();
    assert_eq!(ids, [8, 7, 5].map(id));
    assert_eq!(store.over(keep, 3_600_000 + 8_996, 2).await.unwrap().len(), 2);
    assert_eq!(store.oldest().await.unwrap().unwrap().id(), id(8));
    assert!(store.remove(found[0].clone()).await.unwrap());
    assert!(!store.remove(found[0].clone()).await.unwrap());
    assert_eq!(store.load(id(8)).await.unwrap(), None);
    assert!(store.records(id(8), 1, 9).await.unwrap().is_empty());
    assert_eq!(store.oldest().await.unwrap().unwrap().id(), id(7));
    let replay = Replay { by_message: false, key: "k8".into() };
    assert_eq!(store.replayed("local", &replay).await.unwrap(), None);
    assert_eq!(store.list(&query("local", 50, |_| ())).await.unwrap().heads.len(), 9);
}

pub(crate) async fn many_commits_at_once_all_land<S: Store>(store: &S) {
    let commits = (0..500).map(|n| store.commit(new(n, "local", "c", TaskState::Completed, n as i64).1));
    for outcome in futures::future::join_all(commits).await {
        outcome.unwrap();
    }
    assert_eq!(all(store, query("local", 100, |_| ())).await.len(), 500);
    assert_eq!(store.list(&query("local", 1, |_| ())).await.unwrap().total, 500);
}

pub(crate) fn hook(owner: &str, id: &str) -> Push {
    let url = format!("https://example.com/{id}");
    Push { id: id.into(), owner: owner.into(), url, scheme: "Bearer".into(), wrapped: vec![1, 2, 3] }
}

/// The commit that does this to a webhook of a task.
pub(crate) fn hooked(sample: &mut Sample, pushes: u32, push: PushChange) -> Commit {
    let base = sample.head.clone();
    (sample.head.version, sample.head.pushes) = (base.version + 1, pushes);
    Commit { push: Some(push), ..head_only(Some(base), sample.head.clone()) }
}

fn ids(webhooks: &[Webhook]) -> Vec<&str> {
    webhooks.iter().map(|webhook| webhook.push.id.as_str()).collect()
}

pub(crate) async fn a_webhook_is_kept_replaced_and_deleted_with_its_commit<S: Store>(store: &S) {
    let (mut sample, mut commit) = new(1, "local", "c", TaskState::Submitted, 1_000);
    sample.head.pushes = 1;
    commit.head = Arc::new(sample.head.clone());
    commit.push = Some(PushChange::Set(hook("local", "b"), Delivery::default()));
    store.commit(commit).await.unwrap();
    let far = Delivery { delivered: 1, ..Delivery::default() };
    store.commit(hooked(&mut sample, 2, PushChange::Set(hook("local", "a"), far.clone()))).await.unwrap();
    let found = store.webhooks(id(1)).await.unwrap();
    assert_eq!((ids(&found), found[0].last, &found[0].delivery), (vec!["a", "b"], 1, &far));
    assert_eq!((found[1].task, &found[1].push), (id(1), &hook("local", "b")));

    let other = Push { url: "https://example.com/other".into(), ..hook("local", "a") };
    store.commit(hooked(&mut sample, 2, PushChange::Set(other.clone(), far))).await.unwrap();
    assert_eq!(store.webhook(id(1), "a").await.unwrap().unwrap().push, other);
    let stale = hooked(&mut sample.clone(), 1, PushChange::Delete("a".into()));
    store.commit(moved(&mut sample, TaskState::Working, 2_000)).await.unwrap();
    assert_eq!(store.commit(stale).await, Err(Refused::Conflict));
    store.commit(hooked(&mut sample, 1, PushChange::Delete("a".into()))).await.unwrap();
    assert_eq!(store.webhook(id(1), "a").await.unwrap(), None);
    assert_eq!(ids(&store.webhooks(id(1)).await.unwrap()), ["b"]);
    assert!(store.webhooks(id(2)).await.unwrap().is_empty());
}

pub(crate) async fn how_far_a_webhook_is_is_kept_only_while_it_is_there<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Submitted, 1_000).await;
    let set = PushChange::Set(hook("local", "a"), Delivery::default());
    store.commit(hooked(&mut sample, 1, set)).await.unwrap();
    let mut webhook = store.webhook(id(1), "a").await.unwrap().unwrap();
    webhook.delivery = Delivery { delivered: 1, traceparent: "t".into(), ..Delivery::default() };
    // A note moves no task: a writer that decided before it is not refused.
    let meanwhile = moved(&mut sample, TaskState::Working, 2_000);
    assert!(store.note(&webhook).await.unwrap());
    store.commit(meanwhile).await.unwrap();
    let now = store.webhook(id(1), "a").await.unwrap().unwrap();
    assert_eq!((now.delivery, now.last), (webhook.delivery.clone(), 2));
    // Both wait for the same sync: the deletion is first, and the note finds nothing.
    let delete = store.commit(hooked(&mut sample, 0, PushChange::Delete("a".into())));
    let (deleted, noted) = futures::future::join(delete, store.note(&webhook)).await;
    assert_eq!((deleted, noted), (Ok(vec![]), Ok(false)));
    assert!(!store.note(&webhook).await.unwrap());
    assert_eq!(store.undelivered(None, 10).await.unwrap().0, []);
}

pub(crate) async fn webhooks_with_something_to_deliver_and_failing_ones_are_found<S: Store>(store: &S) {
    for (n, owner) in [(1, "local"), (2, "local"), (3, "other")] {
        let mut sample = put(store, n, owner, "c", TaskState::Submitted, 1_000).await;
        for (pushes, name) in [(1, "a"), (2, "b")] {
            let set = PushChange::Set(hook(owner, name), Delivery::default());
            store.commit(hooked(&mut sample, pushes, set)).await.unwrap();
        }
    }
    let note = async |n, name: &str, delivery| {
        let webhook = store.webhook(id(n), name).await.unwrap().unwrap();
        assert!(store.note(&Webhook { delivery, ..webhook }).await.unwrap());
    };
    let failing = |given_up| Delivery { attempts: 3, given_up, error: "no".into(), ..Delivery::default() };
    note(1, "a", failing(true)).await;
    note(2, "a", failing(false)).await;
    note(2, "b", Delivery { delivered: 1, done: true, ..Delivery::default() }).await;
    note(3, "b", failing(true)).await;

    let (mut found, mut after, mut steps) = (Vec::new(), None, 0);
    loop {
        let (some, more) = store.undelivered(after, 2).await.unwrap();
        found.extend(some.into_iter().map(|webhook| (webhook.task, webhook.push.id)));
        steps += 1;
        match more {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let pair = |n, name: &str| (id(n), name.to_owned());
    assert_eq!(found, [pair(1, "b"), pair(2, "a"), pair(3, "a")]);
    assert!(steps >= 3, "{steps}");

    let failing = async |owner: &str, after| {
        let found = store.failing(owner, after, 1).await.unwrap();
        found.into_iter().map(|webhook| (webhook.task, webhook.push.id)).collect::<Vec<_>>()
    };
    assert_eq!(failing("local", None).await, [pair(1, "a")]);
    assert_eq!(failing("local", Some(pair(1, "a"))).await, [pair(2, "a")]);
    assert_eq!(failing("local", Some(pair(2, "a"))).await, []);
    assert_eq!(failing("other", None).await, [pair(3, "b")]);
    note(2, "a", Delivery { delivered: 1, ..Delivery::default() }).await;
    assert_eq!(failing("local", Some(pair(1, "a"))).await, []);
}

pub(crate) async fn a_removed_task_leaves_no_webhook<S: Store>(store: &S) {
    let mut sample = put(store, 1, "local", "c", TaskState::Completed, 1_000).await;
    let failing = Delivery { attempts: 1, ..Delivery::default() };
    store.commit(hooked(&mut sample, 1, PushChange::Set(hook("local", "a"), failing))).await.unwrap();
    let webhook = store.webhook(id(1), "a").await.unwrap().unwrap();
    assert!(store.remove(sample.head).await.unwrap());
    assert!(!store.note(&webhook).await.unwrap());
    assert!(store.webhooks(id(1)).await.unwrap().is_empty());
    assert!(store.failing("local", None, 10).await.unwrap().is_empty());
    assert!(store.undelivered(None, 10).await.unwrap().0.is_empty());
}
