//! The embedded store: the contract, and what only a directory can show.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use weft_chassis::Env;
use weft_proto::a2a::TaskState;
use weft_proto::weft::Follow;
use weft_tasks::store::{self, Store, sled};
use weft_tasks::{Meter, Settings};

use crate::contract::{self, contract};
use crate::world::*;

mod honours {
    use super::*;

    contract!(async {
        let dir = tempfile::tempdir().unwrap();
        (open(dir.path()).unwrap(), dir)
    });
}

fn open(dir: &Path) -> Result<sled::Sled, String> {
    let env = Env::system();
    sled::open(dir, &Settings::default(), &env, Meter::new(env.metrics())).map_err(|error| error.0)
}

/// Tries until the former owner's threads have let go.
fn reopen(dir: &Path) -> sled::Sled {
    for _ in 0..1_000 {
        match open(dir) {
            Err(error) if error.contains("in use") => {
                std::thread::sleep(std::time::Duration::from_millis(10))
            }
            other => return other.unwrap(),
        }
    }
    panic!("the store stays in use");
}

/// The database itself.
fn raw(dir: &Path) -> ::sled::Db {
    drop(reopen(dir));
    raw_of(dir)
}

/// The database itself, whatever is in it.
fn raw_of(dir: &Path) -> ::sled::Db {
    loop {
        match ::sled::open(dir) {
            Err(::sled::Error::Io(_)) => std::thread::sleep(std::time::Duration::from_millis(10)),
            other => return other.unwrap(),
        }
    }
}

/// A data directory whose store holds some tasks in several states and is closed.
async fn filled() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&store::place(dir.path())).unwrap();
    let states = [TaskState::Completed, TaskState::Working, TaskState::InputRequired];
    for n in 0..30 {
        let (mut sample, commit) = contract::new(n, "local", "c", TaskState::Submitted, 1_000);
        store.commit(commit).await.unwrap();
        store.commit(contract::moved(&mut sample, states[n as usize % 3], 2_000)).await.unwrap();
    }
    store.close().await;
    drop(store);
    drop(reopen(&store::place(dir.path())));
    dir
}

/// [`store::check`], when the former owner's threads have let go.
fn check(dir: &Path) -> Result<store::Report, String> {
    loop {
        match store::check(dir) {
            Err(error) if error.0.contains("in use") => {
                std::thread::sleep(std::time::Duration::from_millis(10))
            }
            other => return other.map_err(|error| error.0),
        }
    }
}

/// Lets a test watch and hold back every sync.
struct Gate {
    reached: Sender<()>,
    go: Mutex<Receiver<io::Result<()>>>,
}

impl sled::Sync for Gate {
    fn sync(&self) -> io::Result<()> {
        let _ = self.reached.send(());
        self.go.lock().unwrap().recv().unwrap_or(Ok(()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_or_shown_before_the_sync_that_covers_it() {
    let dir = tempfile::tempdir().unwrap();
    let (reached, syncs) = channel();
    let (go, gate) = channel();
    go.send(Ok(())).unwrap();
    let env = Env::system();
    let opened =
        sled::open_synced_by(dir.path(), &Settings::default(), &env, Meter::new(env.metrics()), |_| Gate {
            reached,
            go: Mutex::new(gate),
        });
    let store = Arc::new(opened.unwrap());
    syncs.recv().unwrap();

    let commit = tokio::spawn({
        let store = store.clone();
        async move { store.commit(contract::new(1, "local", "c", TaskState::Completed, 1_000).1).await }
    });
    // The write is done, the sync is not.
    syncs.recv().unwrap();
    let load = tokio::spawn({
        let store = store.clone();
        async move { store.load(contract::id(1)).await }
    });
    let list = tokio::spawn({
        let store = store.clone();
        async move { store.list(&contract::query("local", 5, |_| ())).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    assert!(!commit.is_finished() && !load.is_finished() && !list.is_finished());
    go.send(Ok(())).unwrap();
    commit.await.unwrap().unwrap();
    assert!(load.await.unwrap().unwrap().is_some());
    assert_eq!(list.await.unwrap().unwrap().total, 1);

    go.send(Err(io::Error::other("no space"))).unwrap();
    let refused = store.commit(contract::new(2, "local", "c", TaskState::Completed, 1_000).1).await;
    assert!(matches!(refused, Err(store::Refused::Broken(_))), "{refused:?}");
    assert!(store.broken().is_cancelled());
    assert!(store.load(contract::id(2)).await.is_err());
}

#[tokio::test]
async fn a_reopened_store_has_everything_and_a_greater_epoch() {
    let dir = filled().await;
    let store = reopen(&store::place(dir.path()));
    assert_eq!(store.tasks(), 30);
    assert_eq!(store.running().len(), 10);
    assert_eq!(contract::all(&store, contract::query("local", 7, |_| ())).await.len(), 30);
    let (epoch, secret) = (store.epoch(), store.secret());
    drop(store);
    let store = reopen(&store::place(dir.path()));
    assert_eq!((store.epoch(), store.secret()), (epoch + 1, secret));
}

#[tokio::test]
async fn a_second_opener_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let _store = open(&store::place(dir.path())).unwrap();
    for error in [
        open(&store::place(dir.path())).err().unwrap(),
        store::check(dir.path()).unwrap_err().0,
        store::backup(dir.path(), &dir.path().join("b")).unwrap_err().0,
    ] {
        assert!(error.contains("in use") && error.contains("stop"), "{error}");
    }
}

#[tokio::test]
async fn a_newer_format_and_a_foreign_database_are_refused() {
    let dir = filled().await;
    let place = store::place(dir.path());
    {
        let db = raw(&place);
        db.insert(b"mformat", &4u32.to_be_bytes()).unwrap();
        db.flush().unwrap();
    }
    let error = open(&place).err().unwrap();
    assert!(error.contains("format 4") && error.contains("format 3"), "{error}");

    let foreign = tempfile::tempdir().unwrap();
    {
        let db = ::sled::open(foreign.path()).unwrap();
        db.insert(b"x", b"y").unwrap();
        db.flush().unwrap();
    }
    assert!(open(foreign.path()).err().unwrap().contains("not a task store"));
}

#[tokio::test]
async fn what_older_programs_wrote_is_taken_up_with_everything_by_owner() {
    for format in [1u32, 2] {
        let dir = filled().await;
        let place = store::place(dir.path());
        let keys = |db: &::sled::Db| -> Vec<_> {
            let by_owner = |key: &[u8]| b"uwegkyvz".contains(&key[0]);
            db.iter().map(Result::unwrap).filter(|(key, _)| by_owner(key)).collect()
        };
        let made = {
            let db = raw(&place);
            let made = keys(&db);
            made.iter().for_each(|(key, _)| drop(db.remove(key).unwrap()));
            // As a process leaves it that ended while it made them.
            db.insert(&made[0].0, &made[0].1).unwrap();
            db.insert(b"mformat", &format.to_be_bytes()).unwrap();
            db.flush().unwrap();
            made
        };
        assert_eq!(made.len(), 30 + 10 + 10 + 1 + 1);
        assert_eq!(check(dir.path()).unwrap().problems, Vec::<String>::new());
        {
            let store = reopen(&place);
            assert_eq!((store.tasks(), store.used("local").await.unwrap().tasks), (30, 30));
        }
        assert_eq!(keys(&raw(&place)), made);
        assert_eq!(check(dir.path()).unwrap().problems, Vec::<String>::new());
    }
}

/// A closed store with tasks of two owners, a session and a conversation of each, and one that is being forgotten.
async fn of_owners() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&store::place(dir.path())).unwrap();
    for (n, owner) in [(1, "p:ci"), (2, "crm/p:ci"), (3, "p:other"), (4, "p:gone"), (5, "p:ci")] {
        let (mut sample, commit) = contract::new(n, owner, "c", TaskState::Submitted, 1_000);
        store.commit(commit).await.unwrap();
        let state = if n == 5 { TaskState::Working } else { TaskState::Completed };
        sample.head.capability = "talk".into();
        let ended = contract::moved(&mut sample, state, 2_000);
        store.commit(store::Commit { session: Some(format!("s{n}")), ..ended }).await.unwrap();
        let talk = weft_tasks::record::Conversation {
            owner: owner.into(),
            peer: format!("peer {n}"),
            context: "c".into(),
            begun_ms: 7,
        };
        store.converse(talk, true).await.unwrap();
    }
    store.forget("p:gone").await.unwrap();
    store.close().await;
    drop(store);
    drop(reopen(&store::place(dir.path())));
    check(dir.path()).unwrap();
    dir
}

/// Tries until the former owner's threads have let go.
fn closed<T>(mut work: impl FnMut() -> Result<T, store::OpenError>) -> T {
    loop {
        match work() {
            Err(error) if error.0.contains("in use") => {
                std::thread::sleep(std::time::Duration::from_millis(10))
            }
            other => return other.unwrap(),
        }
    }
}

#[tokio::test]
async fn one_owners_part_of_a_closed_store_is_shown_and_removed() {
    let dir = of_owners().await;
    let owner = weft_core::Owner::parse("p:ci").unwrap();
    let exported = || {
        let mut tasks = Vec::new();
        closed(|| {
            tasks.clear();
            store::export(dir.path(), &owner, &mut |task| {
                tasks.push((task.tenant, task.task.unwrap().id));
                Ok(())
            })
        });
        tasks
    };
    let expected = [("", 1), ("crm", 2), ("", 5)].map(|(t, n)| (t.to_owned(), contract::id(n).to_string()));
    assert_eq!(exported(), expected);
    let gone = closed(|| store::forget(dir.path(), &owner));
    assert_eq!(gone, store::Forgotten { tasks: 3, conversations: 3 });
    assert!(exported().is_empty());
    assert_eq!(check(dir.path()).unwrap().problems, Vec::<String>::new());
    let store = reopen(&store::place(dir.path()));
    assert_eq!((store.tasks(), store.running().len()), (2, 0));
    assert_eq!(store.session("p:other", "c", "talk").await.unwrap().as_deref(), Some("s3"));
    assert!(store.conversations("p:ci").await.unwrap().is_empty());
}

#[tokio::test]
async fn a_backup_holds_what_is_kept_besides_tasks() {
    let dir = of_owners().await;
    let file = dir.path().join("backup");
    closed(|| store::backup(dir.path(), &file));
    let restored = tempfile::tempdir().unwrap();
    store::restore(&file, restored.path()).unwrap();
    assert_eq!(check(restored.path()).unwrap().problems, Vec::<String>::new());
    let (old, new) = (reopen(&store::place(dir.path())), reopen(&store::place(restored.path())));
    assert_eq!(new.forgetting(), ["p:gone"]);
    for owner in ["p:ci", "crm/p:ci", "p:other", "p:gone"] {
        assert_eq!(old.conversations(owner).await.unwrap(), new.conversations(owner).await.unwrap());
        assert!(new.session(owner, "c", "talk").await.unwrap().is_some());
    }
    for base in ["p:ci", "p:other"] {
        assert_eq!(old.used(base).await.unwrap(), new.used(base).await.unwrap());
    }
}

#[tokio::test]
async fn a_damaged_store_is_told_with_the_remedy_or_read_without_loss() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for damage in 0..6u64 {
        let dir = filled().await;
        let place = store::place(dir.path());
        let file = place.join("db");
        let mut bytes = std::fs::read(&file).unwrap();
        match damage {
            0 => bytes.truncate(bytes.len().saturating_sub(4_096)),
            1 => std::fs::write(place.join("conf"), b"").unwrap(),
            2 => bytes.clear(),
            n => {
                let at = bytes.len() * n as usize / 8;
                bytes[at..].iter_mut().take(600).for_each(|byte| *byte ^= 0x55);
            }
        }
        if damage != 1 {
            std::fs::write(&file, &bytes).unwrap();
        }
        match check(dir.path()) {
            Ok(report) if report.problems.is_empty() && report.tasks == 30 => {}
            Ok(report) => assert!(!report.problems.is_empty() || report.tasks < 30, "{report}"),
            Err(error) => assert!(
                error.contains("damaged") || error.contains("empty") || error.contains("database"),
                "{error}"
            ),
        }
    }
    std::panic::set_hook(hook);
}

#[tokio::test]
async fn a_check_finds_what_is_missing() {
    let dir = filled().await;
    assert_eq!(check(dir.path()).unwrap(), store::Report { tasks: 30, events: 60, problems: Vec::new() });
    for prefix in *b"cosnuwegk" {
        let dir = filled().await;
        {
            let db = raw(&store::place(dir.path()));
            let (key, _) = db.scan_prefix([prefix]).next().unwrap().unwrap();
            db.remove(key).unwrap();
            db.flush().unwrap();
        }
        let report = check(dir.path()).unwrap();
        assert!(!report.problems.is_empty(), "without a key of {}", char::from(prefix));
    }
}

#[tokio::test]
async fn a_backup_restores_to_an_equal_store() {
    let dir = filled().await;
    let file = dir.path().join("backup");
    let saved = loop {
        match store::backup(dir.path(), &file) {
            Err(error) if error.0.contains("in use") => {}
            other => break other.unwrap(),
        }
    };
    let restored = tempfile::tempdir().unwrap();
    assert_eq!(store::restore(&file, restored.path()).unwrap(), saved);
    assert_eq!(check(restored.path()).unwrap(), saved);
    let (old, new) = (reopen(&store::place(dir.path())), reopen(&store::place(restored.path())));
    for n in 0..30 {
        assert_eq!(old.load(contract::id(n)).await.unwrap(), new.load(contract::id(n)).await.unwrap());
    }
    let pages = contract::query("local", 7, |_| ());
    assert_eq!(contract::all(&old, pages.clone()).await, contract::all(&new, pages).await);
    // Leases of the former life stay older than those to come.
    assert!(new.epoch() >= old.epoch());

    let again = store::restore(&file, restored.path()).unwrap_err().0;
    assert!(again.contains("not empty"), "{again}");
    assert!(store::backup(dir.path(), &file).is_err());
}

#[tokio::test]
async fn a_changed_or_cut_backup_is_refused_and_leaves_nothing_behind() {
    let dir = filled().await;
    let file = dir.path().join("backup");
    check(dir.path()).unwrap();
    while store::backup(dir.path(), &file).is_err_and(|error| error.0.contains("in use")) {}
    let whole = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        let target = tempfile::tempdir().unwrap();
        let changed = target.path().join("changed");
        std::fs::write(&changed, bytes).unwrap();
        let refused = store::restore(&changed, target.path()).is_err();
        refused && !store::place(target.path()).exists()
    };
    for at in (0..whole.len()).step_by(whole.len() / 23) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(refused(&changed), "changed at {at}");
        assert!(refused(&whole[..at]), "cut at {at}");
    }
    assert!(refused(&[whole.as_slice(), b"x"].concat()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_finds_its_tasks_again() {
    let dir = tempfile::tempdir().unwrap();
    let task = {
        let world = embedded(dir.path(), &settings()).await;
        let task = world.submitted(sends(says("m1"), Follow::None)).await.unwrap();
        assert!(world.env.drain(std::time::Duration::from_secs(30)).await);
        world.handle.close().await;
        task
    };
    drop(reopen(&store::place(dir.path())));
    check(dir.path()).unwrap();
    let world = embedded(dir.path(), &settings()).await;
    assert_eq!(world.get(&task.id).await.unwrap(), task);
    let mut worker = world.worker(1).await;
    assert_eq!(worker.item().await.task_id, task.id);
}
