//! This machine's network state, read from `/proc`, `/sys` and `/etc/resolv.conf`. No process is started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft_core::manifest::source::NetworkTable;
use weft_proto::wkt::Value;

use crate::failure::Failure;
use crate::number;
use crate::rows::{Next, Sink};

mod address;
mod link;

type Row = BTreeMap<&'static str, Value>;

/// Offers the rows of one table. `root` is the root of the file system.
pub(crate) fn rows(root: &Path, table: NetworkTable, sink: &mut Sink<'_>) -> Result<(), Failure> {
    let system = System { root: root.to_owned() };
    let rows = match table {
        NetworkTable::Interfaces => link::interfaces(&system)?,
        NetworkTable::Addresses => address::addresses(&system)?.iter().map(address::row).collect(),
        NetworkTable::Neighbours => link::neighbours(&system)?,
        NetworkTable::Dns => dns(&system)?,
        NetworkTable::Traffic => link::traffic(&system)?,
        NetworkTable::Routes => address::routes(&system)?.iter().map(address::route_row).collect(),
    };
    for row in rows {
        if sink.offer(|name| Ok(row.get(name).cloned()))? == Next::Enough {
            break;
        }
    }
    Ok(())
}

/// The kernel's files.
struct System {
    root: PathBuf,
}

impl System {
    /// A file that every Linux has.
    fn text(&self, path: &str) -> Result<String, Failure> {
        self.maybe(path).ok_or_else(|| {
            tracing::warn!(path, "the system does not tell");
            Failure::Unavailable("this system does not tell its network state".to_owned())
        })
    }

    /// A file that may be missing or unreadable, for example the speed of an interface that is down.
    fn maybe(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// Names of the interfaces, sorted.
    fn links(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join("sys/class/net")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            // `bonding_masters` and the like are files, not interfaces.
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// `nameserver` and `search` lines, in their order.
fn dns(system: &System) -> Result<Vec<Row>, Failure> {
    let text = system.text("etc/resolv.conf")?;
    let mut rows = Vec::new();
    for line in text.lines() {
        let line = line.split(['#', ';']).next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let values: Vec<&str> = match words.next() {
            Some("nameserver") => words.take(1).collect(),
            Some("search" | "domain") => words.collect(),
            _ => continue,
        };
        let kind = if line.trim_start().starts_with("nameserver") { "nameserver" } else { "search" };
        for value in values {
            let order = rows.iter().filter(|row: &&Row| row["kind"] == number::text(kind)).count() + 1;
            rows.push(Row::from([
                ("kind", number::text(kind)),
                ("value", number::text(value)),
                ("order", number::count(u64::try_from(order).unwrap_or(u64::MAX))),
            ]));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
