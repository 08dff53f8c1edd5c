//! A database built from a script and CSV files: a derived thing, made anew whenever one of its inputs changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rusqlite::{Connection, params_from_iter};

use crate::source::csv::without_mark;
use crate::source::{File, Misfit};

/// When a file was changed last, and how long it is.
type Stamp = (Option<SystemTime>, u64);

/// See the module.
#[derive(Debug)]
pub(crate) struct Built {
    script: File,
    tables: Vec<(String, File)>,
    target: PathBuf,
    /// What the present database was made from; none before the first build.
    made_from: Mutex<Option<Vec<Stamp>>>,
}

impl Built {
    /// Builds the `nth` database of a manifest in `dir`.
    pub(crate) fn open(
        base: &Path,
        script: &str,
        tables: &BTreeMap<String, String>,
        dir: &Path,
        nth: usize,
    ) -> Result<Built, Misfit> {
        let open = |(table, name): (&String, &String)| Ok((table.clone(), File::open(base, "csv", name)?));
        let built = Built {
            script: File::open(base, "build", script)?,
            tables: tables.iter().map(open).collect::<Result<_, Misfit>>()?,
            target: dir.join(format!("{nth}.sqlite")),
            made_from: Mutex::new(None),
        };
        match built.path() {
            Ok(_) => Ok(built),
            Err(remedy) => Err(Misfit { key: "build", value: format!("\"{script}\""), remedy }),
        }
    }

    /// Where the database is, after it was made anew when an input changed.
    pub(crate) fn path(&self) -> Result<PathBuf, String> {
        let mut made_from = self.made_from.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = self.stamps()?;
        if made_from.as_ref() != Some(&stamps) {
            self.build()?;
            *made_from = Some(stamps);
        }
        Ok(self.target.clone())
    }

    fn stamps(&self) -> Result<Vec<Stamp>, String> {
        let files = std::iter::once(&self.script).chain(self.tables.iter().map(|(_, file)| file));
        files
            .map(|file| {
                let data = fs::metadata(file.path()).map_err(|e| format!("an input cannot be read: {e}"))?;
                Ok((data.modified().ok(), data.len()))
            })
            .collect()
    }

    /// Builds beside the target and puts it in place whole: who reads the old one goes on reading it.
    fn build(&self) -> Result<(), String> {
        let dir = self.target.parent().ok_or("the data folder has no name")?;
        fs::create_dir_all(dir).map_err(|e| format!("the data folder cannot be made: {e}"))?;
        let fresh = self.target.with_extension("new");
        match fs::remove_file(&fresh) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("a left-over cannot be removed: {e}"));
            }
            _ => {}
        }
        let script =
            fs::read_to_string(self.script.path()).map_err(|e| format!("the script cannot be read: {e}"))?;
        let mut connection =
            Connection::open(&fresh).map_err(|e| format!("cannot build in the data folder: {e}"))?;
        // It can be made again at any time: no need to wait for the disk.
        let script = format!("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;\n{script}");
        connection.execute_batch(&script).map_err(|e| format!("the script fails: {e}"))?;
        for (table, file) in &self.tables {
            fill(&mut connection, table, file).map_err(|e| format!("table {table} cannot be filled: {e}"))?;
        }
        connection.close().map_err(|(_, e)| format!("the database does not close: {e}"))?;
        fs::rename(&fresh, &self.target).map_err(|e| format!("the database cannot be put in place: {e}"))
    }
}

/// Copies a CSV file into a table; its header names the columns, an empty cell is NULL.
fn fill(connection: &mut Connection, table: &str, file: &File) -> Result<(), String> {
    let bytes = fs::read(file.path()).map_err(|e| e.to_string())?;
    let mut reader = csv::Reader::from_reader(without_mark(&bytes));
    let columns = reader.headers().map_err(|e| e.to_string())?.clone();
    let plain = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if let Some(bad) = columns.iter().find(|name| !plain(name)) {
        return Err(format!("column \"{bad}\" must be ASCII letters, digits and `_`"));
    }
    let names = columns.iter().collect::<Vec<_>>().join("\", \"");
    let marks = vec!["?"; columns.len()].join(", ");
    let insert = format!("INSERT INTO \"{table}\" (\"{names}\") VALUES ({marks})");
    let all = connection.transaction().map_err(|e| e.to_string())?;
    {
        let mut insert = all.prepare(&insert).map_err(|e| e.to_string())?;
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let cells = record.iter().map(|cell| Some(cell).filter(|cell| !cell.is_empty()));
            insert.execute(params_from_iter(cells)).map_err(|e| e.to_string())?;
        }
    }
    all.commit().map_err(|e| e.to_string())
}
