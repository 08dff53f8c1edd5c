//! One SELECT over an SQLite database that is opened read-only, anew for each call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use weft_core::manifest::Tool;
use weft_core::manifest::source::Database;
use weft_proto::wkt::Value;

use crate::failure::Failure;
use crate::number;
use crate::rows::{Next, Sink};
use crate::source::{File, Misfit, Stop};

mod build;

use build::Built;

/// How many steps of SQLite's machine pass between two looks at the stop flag.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// The databases of one manifest.
pub(crate) struct Databases {
    built_dir: PathBuf,
    built: BTreeMap<Database, Arc<Built>>,
}

/// A database, wherever it is.
#[derive(Debug, Clone)]
pub(crate) enum Handle {
    File(PathBuf),
    Built(Arc<Built>),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Query {
    database: Handle,
    statement: String,
}

// === impl Databases ===

impl Databases {
    pub(crate) fn new(built_dir: PathBuf) -> Databases {
        Databases { built_dir, built: BTreeMap::new() }
    }

    /// Opens a database; builds it when it is one to build.
    pub(crate) fn open(&mut self, base: &Path, database: &Database) -> Result<Handle, Misfit> {
        match database {
            Database::File(name) => Ok(Handle::File(File::open(base, "file", name)?.path().to_owned())),
            Database::Built { script, tables } => {
                if let Some(built) = self.built.get(database) {
                    return Ok(Handle::Built(built.clone()));
                }
                let nth = self.built.len();
                let built = Arc::new(Built::open(base, script, tables, &self.built_dir, nth)?);
                self.built.insert(database.clone(), built.clone());
                Ok(Handle::Built(built))
            }
        }
    }
}

impl Handle {
    fn connect(&self) -> Result<Connection, String> {
        let path = match self {
            Handle::File(path) => path.clone(),
            Handle::Built(built) => built.path()?,
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| e.to_string())?;
        // Someone else may be writing to it: wait a little rather than fail; the tool's time bounds it anyhow.
        connection.busy_timeout(std::time::Duration::from_millis(250)).map_err(|e| e.to_string())?;
        Ok(connection)
    }
}

// === impl Query ===

impl Query {
    /// Prepares the statement once, to see that it reads, and that it gives every field that may leave.
    pub(crate) fn open(database: Handle, statement: &str, tool: &Tool) -> Result<Query, Misfit> {
        let misfit = |remedy: String| Misfit { key: "query", value: statement.to_owned(), remedy };
        let connection =
            database.connect().map_err(|error| misfit(format!("the database does not open: {error}")))?;
        let prepared =
            connection.prepare(statement).map_err(|error| misfit(format!("SQLite refuses it: {error}")))?;
        if !prepared.readonly() {
            return Err(misfit("must only read".to_owned()));
        }
        if prepared.parameter_count() > 0 {
            return Err(misfit("must not have parameters: nobody fills them".to_owned()));
        }
        let columns: Vec<&str> = prepared.column_names().collect();
        if let Some(field) = tool.fields.iter().find(|field| !columns.contains(&field.as_str())) {
            return Err(misfit(format!("gives no column \"{field}\"; it gives {}", columns.join(", "))));
        }
        Ok(Query { database, statement: statement.to_owned() })
    }

    /// Offers every row until it is enough or nobody waits any more.
    pub(crate) fn rows(&self, sink: &mut Sink<'_>, stop: &Stop) -> Result<(), Failure> {
        let broken = |error: &dyn std::fmt::Display| {
            tracing::warn!(%error, "a database cannot be read");
            Failure::Unavailable("its database cannot be read".to_owned())
        };
        let mut connection = self.database.connect().map_err(|error| broken(&error))?;
        let flag = stop.clone();
        connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || flag.is_set()))
            .map_err(|error| broken(&error))?;
        let mut statement = connection.prepare(&self.statement).map_err(|error| broken(&error))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(|error| broken(&error))?;
        while let Some(row) = rows.next().map_err(|error| broken(&error))? {
            let next = sink.offer(|name| {
                let Some(place) = columns.iter().position(|column| column == name) else { return Ok(None) };
                cell(name, row.get_ref(place).map_err(|error| broken(&error))?)
            })?;
            if next == Next::Enough {
                break;
            }
        }
        Ok(())
    }
}

fn cell(name: &str, value: ValueRef<'_>) -> Result<Option<Value>, Failure> {
    Ok(Some(match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(n) => number::whole(n),
        ValueRef::Real(n) => number::double(n),
        ValueRef::Text(text) => number::text(String::from_utf8_lossy(text)),
        ValueRef::Blob(_) => {
            return Err(Failure::Unavailable(format!(
                "column `{name}` holds bytes: select a text or a number"
            )));
        }
    }))
}
