//! `source = { kind = … }`: where a tool's rows come from.

use std::collections::BTreeMap;

use super::node::is_http;
use super::reader::Reader;

/// Where the rows of a tool come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A JSON file: an array of objects at `pointer` (RFC 6901; empty: the whole document).
    Json {
        /// Path within the manifest's folder.
        file: String,
        /// Where the rows are.
        pointer: String,
    },
    /// A CSV file with a header line.
    Csv {
        /// Path within the manifest's folder.
        file: String,
        /// What stands between two cells.
        delimiter: u8,
        /// Columns that hold numbers; every other cell is text.
        numbers: Vec<String>,
    },
    /// One SELECT over an SQLite database that is opened read-only.
    Sqlite {
        /// Which database.
        database: Database,
        /// The statement.
        query: String,
    },
    /// A GET that answers JSON.
    HttpJson {
        /// What is fetched.
        url: Url,
        /// Where in the document the rows are (RFC 6901; empty: the whole document).
        pointer: String,
    },
    /// Prometheus text exposition: one row a sample.
    Prometheus {
        /// Where the text is.
        text: Text,
        /// Names of the metrics that are read.
        metrics: Vec<String>,
    },
    /// This machine's network state.
    Network(NetworkTable),
    /// No rows: the manifest's rules play an agent.
    Scenario,
    /// No rows: the message goes to the agent of `[agent]`.
    A2a {
        /// Which of the agent's skills it is for; unset: the agent chooses.
        skill: Option<String>,
    },
}

impl Source {
    /// Whether it answers rows, rather than what an agent says.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        !matches!(self, Source::Scenario | Source::A2a { .. })
    }
}

/// An SQLite database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Database {
    /// A database file within the manifest's folder.
    File(String),
    /// Built in the data folder from files in the manifest's folder, and again whenever one of them changed.
    Built {
        /// An SQL script.
        script: String,
        /// Tables of the script that are filled from a CSV file with the same column names.
        tables: BTreeMap<String, String>,
    },
}

/// An address the manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Absolute http or https URL without credentials.
    pub text: String,
    /// True when it may resolve to a private, loopback or link-local address.
    pub private: bool,
}

/// Where a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// In a file within the manifest's folder.
    File(String),
    /// At an address.
    At(Url),
}

/// What of the network state a tool answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkTable {
    /// Interfaces: `name`, `state`, `mac`, `mtu`, `speed_mbps`, `loopback`, `addresses`.
    Interfaces,
    /// Addresses: `interface`, `family`, `address`, `prefix`, `scope`.
    Addresses,
    /// Neighbours seen on the link: `address`, `interface`, `mac`, `state`.
    Neighbours,
    /// Resolver configuration: `kind` (`nameserver` or `search`), `value`, `order`.
    Dns,
    /// Counters since the interface came up: `interface`, `rx_bytes`, `rx_packets`, `rx_errors`, `rx_dropped`, and the
    /// same with `tx_`.
    Traffic,
    /// IPv4 routes: `destination`, `gateway`, `interface`, `metric`.
    Routes,
}

const KINDS: &str = "must be json, csv, sqlite, http_json, prometheus, network, scenario or a2a";

/// Reads a `source` table; nothing when it is wrong.
pub(super) fn read(section: Reader<'_>) -> Option<Source> {
    let kind = section.required("kind", 32, KINDS);
    let source = match kind.as_str() {
        "json" => Some(Source::Json { file: file(&section, "file"), pointer: pointer(&section) }),
        "csv" => Some(csv(&section)),
        "sqlite" => sqlite(&section),
        "http_json" => Some(Source::HttpJson { url: url(&section), pointer: pointer(&section) }),
        "prometheus" => Some(prometheus(&section)),
        "network" => network(&section).map(Source::Network),
        "scenario" => Some(Source::Scenario),
        "a2a" => {
            Some(Source::A2a { skill: Some(section.text("skill", 200)).filter(|skill| !skill.is_empty()) })
        }
        "" => None,
        other => {
            section.wrong("kind", format!("\"{other}\""), KINDS);
            // Its keys cannot be judged without a kind.
            return None;
        }
    };
    section.finish();
    source
}

fn file(section: &Reader<'_>, key: &'static str) -> String {
    let file = section.required(key, 200, "a file beside the manifest, for example \"data/rows.json\"");
    check_file(section, key, &file);
    file
}

fn check_file(section: &Reader<'_>, key: &'static str, file: &str) {
    let inside = file.split('/').all(|part| !part.is_empty() && part != ".." && part != ".");
    if !file.is_empty() && (!inside || file.contains('\\')) {
        section.wrong(
            key,
            format!("\"{file}\""),
            "must be a relative path that stays within the manifest's folder",
        );
    }
}

fn pointer(section: &Reader<'_>) -> String {
    let pointer = section.text("pointer", 200);
    if !pointer.is_empty() && !pointer.starts_with('/') {
        section.wrong(
            "pointer",
            format!("\"{pointer}\""),
            "must be a JSON pointer like \"/data/rows\", or be left out",
        );
    }
    pointer
}

fn csv(section: &Reader<'_>) -> Source {
    let delimiter = section.text("delimiter", 1);
    if !delimiter.is_ascii() {
        section.wrong("delimiter", format!("\"{delimiter}\""), "must be one ASCII character");
    }
    Source::Csv {
        file: file(section, "file"),
        delimiter: delimiter.bytes().next().unwrap_or(b','),
        numbers: section.texts("numbers", 64, 64),
    }
}

fn sqlite(section: &Reader<'_>) -> Option<Source> {
    let remedy = "one SELECT statement; no other statement is run";
    let query = section.prose("query", 16_384).unwrap_or_default();
    if !section.has("query") {
        section.wrong("query", "", remedy);
    }
    let query = query.trim().trim_end_matches(';').trim_end().to_owned();
    let first = query.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if !query.is_empty() && first != "select" && first != "with" {
        section.wrong("query", &query, format!("must be {remedy}"));
    }
    let database = match (section.has("file"), section.has("build")) {
        (true, false) => Database::File(file(section, "file")),
        (false, true) => Database::Built { script: file(section, "build"), tables: tables(section) },
        (true, true) => {
            let (file, _) = (section.value("file"), section.value("build"));
            section.wrong("file", file?, "give either `file` or `build`, not both");
            return None;
        }
        (false, false) => {
            section.wrong(
                "file",
                "",
                "name a database with `file`, or a script that builds one with `build`",
            );
            return None;
        }
    };
    Some(Source::Sqlite { database, query })
}

/// `csv = { table = "file.csv" }`
fn tables(section: &Reader<'_>) -> BTreeMap<String, String> {
    let mut tables = BTreeMap::new();
    let Some(value) = section.value("csv") else { return tables };
    let Some(pairs) = value.as_table() else {
        section.wrong("csv", value, "must be a table like { prices = \"prices.csv\" }");
        return tables;
    };
    for (table, file) in pairs {
        let plain = !table.is_empty() && table.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match file.as_str() {
            Some(file) if plain => {
                check_file(section, "csv", file);
                tables.insert(table.clone(), file.to_owned());
            }
            Some(_) => {
                section.wrong("csv", format!("\"{table}\""), "table names are ASCII letters, digits and `_`")
            }
            None => section.wrong("csv", file, "must be the name of a CSV file in quotes"),
        }
    }
    tables
}

fn url(section: &Reader<'_>) -> Url {
    let remedy = "must be an absolute http:// or https:// URL without user and fragment";
    let text = section.required("url", 2_048, remedy);
    let (base, query) = text.split_once('?').unwrap_or((&text, ""));
    let shaped = is_http(base) && query.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    if !text.is_empty() && !shaped {
        section.wrong("url", format!("\"{text}\""), remedy);
    }
    Url { private: section.flag("private"), text }
}

fn prometheus(section: &Reader<'_>) -> Source {
    let text = match (section.has("file"), section.has("url")) {
        (true, true) => {
            section.wrong("file", "given with `url`", "give either `file` or `url`, not both");
            Text::File(file(section, "file"))
        }
        (true, false) => Text::File(file(section, "file")),
        _ => Text::At(url(section)),
    };
    let metrics = section.texts("metrics", 256, 200);
    if metrics.is_empty() {
        let found = if section.has("metrics") { "empty" } else { "" };
        section.wrong("metrics", found, "list the names of the metrics to read");
    }
    Source::Prometheus { text, metrics }
}

fn network(section: &Reader<'_>) -> Option<NetworkTable> {
    let remedy = "must be interfaces, addresses, neighbours, dns, traffic or routes";
    Some(match section.required("table", 32, remedy).as_str() {
        "interfaces" => NetworkTable::Interfaces,
        "addresses" => NetworkTable::Addresses,
        "neighbours" => NetworkTable::Neighbours,
        "dns" => NetworkTable::Dns,
        "traffic" => NetworkTable::Traffic,
        "routes" => NetworkTable::Routes,
        "" => return None,
        other => {
            section.wrong("table", format!("\"{other}\""), remedy);
            return None;
        }
    })
}
