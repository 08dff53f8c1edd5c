//! Which turn is which remote task: a small SQLite database in the node's folder, synced at each commit.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::failure::Failure;

/// Its name within the node's folder.
const FILE: &str = "agent.sqlite3";
/// Format of the database.
const FORMAT: i64 = 1;
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS turn (
        key TEXT PRIMARY KEY,
        task TEXT NOT NULL,
        agent TEXT NOT NULL,
        remote_task TEXT NOT NULL,
        remote_context TEXT NOT NULL,
        taken INTEGER NOT NULL,
        cancel INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS turn_task ON turn (task);
";
const COLUMNS: &str = "key, agent, remote_task, remote_context, taken";

/// See the module. Opened when it is first needed.
#[derive(Debug)]
pub(crate) struct Memory {
    folder: PathBuf,
    turns_max: u64,
    connection: Mutex<Option<Connection>>,
}

/// What is known of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) key: String,
    /// Address of the agent it went to.
    pub(crate) agent: String,
    /// The agent's task; empty: not known.
    pub(crate) remote_task: String,
    pub(crate) remote_context: String,
    /// The agent is known to have taken the message; else it was about to be sent.
    pub(crate) taken: bool,
}

/// What is known of a turn when its call comes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Recalled {
    pub(crate) this: Option<Kept>,
    /// The latest turn of the same task that has a task of the agent.
    pub(crate) before: Option<Kept>,
}

impl Memory {
    /// Keeps the latest `turns_max` turns in a database in `folder`, which is made when needed.
    pub(crate) fn new(folder: PathBuf, turns_max: u64) -> Memory {
        Memory { folder, turns_max, connection: Mutex::new(None) }
    }

    pub(crate) async fn recall(self: &Arc<Self>, key: &str, task: &str) -> Result<Recalled, Failure> {
        let (key, task) = (key.to_owned(), task.to_owned());
        self.with(move |db| {
            let this = format!("SELECT {COLUMNS} FROM turn WHERE key = ?1");
            let before = format!(
                "SELECT {COLUMNS} FROM turn WHERE task = ?1 AND key <> ?2 AND remote_task <> '' \
                 ORDER BY rowid DESC LIMIT 1"
            );
            Ok(Recalled {
                this: db.query_row(&this, [&key], kept).optional()?,
                before: db.query_row(&before, [&task, &key], kept).optional()?,
            })
        })
        .await
    }

    /// A message is about to be sent. On disk when this returns.
    pub(crate) async fn begin(self: &Arc<Self>, kept: Kept, task: &str) -> Result<(), Failure> {
        let (task, turns_max) = (task.to_owned(), self.turns_max);
        self.with(move |db| {
            db.execute(
                "INSERT OR REPLACE INTO turn (key, task, agent, remote_task, remote_context, taken, cancel) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)",
                params![kept.key, task, kept.agent, kept.remote_task, kept.remote_context],
            )?;
            let bound = i64::try_from(turns_max).unwrap_or(i64::MAX);
            db.execute("DELETE FROM turn WHERE rowid <= (SELECT max(rowid) FROM turn) - ?1", [bound])?;
            Ok(())
        })
        .await
    }

    /// The agent has taken the message, as this task of its own.
    pub(crate) async fn taken(self: &Arc<Self>, key: &str, task: &str, context: &str) -> Result<(), Failure> {
        let (key, task, context) = (key.to_owned(), task.to_owned(), context.to_owned());
        self.with(move |db| {
            let change = "UPDATE turn SET taken = 1, remote_task = ?2, remote_context = ?3 WHERE key = ?1";
            db.execute(change, [key, task, context]).map(drop)
        })
        .await
    }

    /// The agent has not heard of the message.
    pub(crate) async fn withdraw(self: &Arc<Self>, key: &str) -> Result<(), Failure> {
        let key = key.to_owned();
        self.with(move |db| db.execute("DELETE FROM turn WHERE key = ?1 AND taken = 0", [key]).map(drop))
            .await
    }

    /// The turn is to be canceled at the agent; what is known of it.
    pub(crate) async fn cancel(self: &Arc<Self>, key: &str) -> Result<Option<Kept>, Failure> {
        let key = key.to_owned();
        self.with(move |db| {
            db.execute("UPDATE turn SET cancel = 1 WHERE key = ?1", [&key])?;
            db.query_row(&format!("SELECT {COLUMNS} FROM turn WHERE key = ?1"), [&key], kept).optional()
        })
        .await
    }

    /// The agent has canceled it, or it cannot be canceled any more.
    pub(crate) async fn canceled(self: &Arc<Self>, key: &str) -> Result<(), Failure> {
        let key = key.to_owned();
        self.with(move |db| db.execute("UPDATE turn SET cancel = 0 WHERE key = ?1", [key]).map(drop)).await
    }

    /// The turns that are still to be canceled at the agent. Nothing is made when there is no database.
    pub(crate) async fn to_cancel(self: &Arc<Self>) -> Result<Vec<Kept>, Failure> {
        if !tokio::fs::try_exists(self.folder.join(FILE)).await.unwrap_or(false) {
            return Ok(Vec::new());
        }
        self.with(|db| {
            let mut statement = db.prepare(&format!("SELECT {COLUMNS} FROM turn WHERE cancel = 1"))?;
            statement.query_map([], kept)?.collect()
        })
        .await
    }

    async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let memory = self.clone();
        // Without the path: it says how the machine is laid out.
        let broken = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "what is known of remote tasks cannot be read or written");
            Failure::Unavailable("its record of remote tasks cannot be used".to_owned())
        };
        let done = tokio::task::spawn_blocking(move || {
            let mut open = memory.connection.lock().unwrap_or_else(PoisonError::into_inner);
            if open.is_none() {
                *open = Some(memory.open()?);
            }
            match open.as_ref() {
                Some(db) => work(db).map_err(|error| error.to_string()),
                None => Err("it is not open".to_owned()),
            }
        });
        let done = done.await.map_err(|error| broken(&error))?;
        done.map_err(|error| broken(&error))
    }

    fn open(&self) -> Result<Connection, String> {
        std::fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        let db = Connection::open(self.folder.join(FILE)).map_err(|error| error.to_string())?;
        let format = prepare(&db).map_err(|error| error.to_string())?;
        if format > FORMAT {
            return Err(format!(
                "it is of format {format}, written by a newer version; this one knows {FORMAT}"
            ));
        }
        Ok(db)
    }
}

/// Sets the database up; gives the format it had, 0 when it is new.
fn prepare(db: &Connection) -> rusqlite::Result<i64> {
    db.busy_timeout(Duration::from_secs(5))?;
    let format = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if format <= FORMAT {
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        db.execute_batch(SCHEMA)?;
        db.pragma_update(None, "user_version", FORMAT)?;
    }
    Ok(format)
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept {
        key: row.get(0)?,
        agent: row.get(1)?,
        remote_task: row.get(2)?,
        remote_context: row.get(3)?,
        taken: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, remote_task: &str) -> Kept {
        Kept {
            key: key.into(),
            agent: "http://far".into(),
            remote_task: remote_task.into(),
            remote_context: String::new(),
            taken: false,
        }
    }

    fn memory(dir: &tempfile::TempDir, turns_max: u64) -> Arc<Memory> {
        Arc::new(Memory::new(dir.path().join("far"), turns_max))
    }

    #[tokio::test]
    async fn what_was_kept_is_there_when_it_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let first = memory(&dir, 10);
        assert_eq!(first.recall("t:1", "t").await.unwrap(), Recalled::default());
        first.begin(row("t:1", ""), "t").await.unwrap();
        first.taken("t:1", "far-1", "ctx").await.unwrap();
        first.begin(row("t:2", "far-1"), "t").await.unwrap();
        drop(first);
        let again = memory(&dir, 10);
        let taken = Kept { remote_context: "ctx".into(), taken: true, ..row("t:1", "far-1") };
        let recalled = again.recall("t:2", "t").await.unwrap();
        assert_eq!(recalled, Recalled { this: Some(row("t:2", "far-1")), before: Some(taken) });
        again.withdraw("t:2").await.unwrap();
        again.withdraw("t:1").await.unwrap();
        let recalled = again.recall("t:2", "t").await.unwrap();
        assert_eq!(recalled.this, None, "what the agent has not heard of is forgotten");
        assert!(recalled.before.is_some(), "what it has taken is not");
        assert_eq!(again.recall("u:1", "u").await.unwrap(), Recalled::default(), "another task is another");
    }

    #[tokio::test]
    async fn a_cancel_is_remembered_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        assert!(memory(&dir, 10).to_cancel().await.unwrap().is_empty());
        assert!(!dir.path().join("far").exists(), "looking makes nothing");
        let first = memory(&dir, 10);
        first.begin(row("t:1", ""), "t").await.unwrap();
        assert_eq!(first.cancel("t:1").await.unwrap(), Some(row("t:1", "")));
        assert_eq!(first.cancel("u:1").await.unwrap(), None);
        let again = memory(&dir, 10);
        assert_eq!(again.to_cancel().await.unwrap(), [row("t:1", "")]);
        again.canceled("t:1").await.unwrap();
        assert!(again.to_cancel().await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn the_oldest_turns_are_forgotten_first() {
        let dir = tempfile::tempdir().unwrap();
        let memory = memory(&dir, 2);
        for key in ["a", "b", "c"] {
            memory.begin(row(key, ""), key).await.unwrap();
        }
        assert!(memory.recall("a", "a").await.unwrap().this.is_none());
        assert!(memory.recall("b", "b").await.unwrap().this.is_some());
    }

    #[tokio::test]
    async fn a_newer_format_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        memory(&dir, 2).begin(row("a", ""), "a").await.unwrap();
        let db = Connection::open(dir.path().join("far").join(FILE)).unwrap();
        db.pragma_update(None, "user_version", FORMAT + 1).unwrap();
        drop(db);
        assert!(matches!(memory(&dir, 2).recall("a", "a").await, Err(Failure::Unavailable(_))));
    }
}
