//! Where rows come from. A source is opened once per manifest and read once per call, within the tool's time and size.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;
use weft_chassis::Outbound;
use weft_core::manifest::source::{NetworkTable, Text};
use weft_core::manifest::{Source, Tool};
use weft_proto::weft::InvokeResult;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::rows::Sink;

mod csv;
mod fetch;
mod file;
mod json;
mod network;
mod prometheus;
mod sqlite;

use fetch::Fetch;
use file::File;

/// Where a node's files are.
#[derive(Debug, Clone)]
pub struct Place {
    /// The folder that the manifest's paths start from; it is never written to.
    pub base_dir: PathBuf,
    /// Where databases may be built, in a folder per node; made when needed.
    pub data_dir: PathBuf,
}

/// A source that cannot be opened: the key within `source`, its value, what would be right.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    pub(crate) remedy: String,
}

/// An opened source of rows.
#[derive(Debug)]
pub(crate) enum Opened {
    Json { file: File, pointer: String },
    Csv(csv::Table),
    Sqlite(sqlite::Query),
    HttpJson { fetch: Fetch, pointer: String },
    PrometheusFile { file: File, metrics: Vec<String> },
    PrometheusAt { fetch: Fetch, metrics: Vec<String> },
    Network { root: PathBuf, table: NetworkTable },
}

/// Opens the sources of one manifest; databases that several tools use are built once.
pub(crate) struct Opener<'a> {
    place: &'a Place,
    outbound: &'a Outbound,
    databases: sqlite::Databases,
}

// === impl Opener ===

impl<'a> Opener<'a> {
    /// `node` names the folder for what is built.
    pub(crate) fn new(place: &'a Place, node: &str, outbound: &'a Outbound) -> Opener<'a> {
        Opener { place, outbound, databases: sqlite::Databases::new(place.data_dir.join(node)) }
    }

    /// Opens a tool's source; nothing for a scenario and for an agent. Blocks.
    pub(crate) fn open(&mut self, tool: &Tool) -> Result<Option<Opened>, Misfit> {
        let base = &self.place.base_dir;
        Ok(Some(match &tool.source {
            Source::Json { file, pointer } => {
                Opened::Json { file: File::open(base, "file", file)?, pointer: pointer.clone() }
            }
            Source::Csv { file, delimiter, numbers } => {
                let table = csv::Table::new(File::open(base, "file", file)?, *delimiter, numbers.clone());
                table.check(tool, file)?;
                Opened::Csv(table)
            }
            Source::Sqlite { database, query } => {
                let database = self.databases.open(base, database)?;
                Opened::Sqlite(sqlite::Query::open(database, query, tool)?)
            }
            Source::HttpJson { url, pointer } => Opened::HttpJson {
                fetch: Fetch::open(url, "application/json", self.outbound)?,
                pointer: pointer.clone(),
            },
            Source::Prometheus { text, metrics } => match text {
                Text::File(name) => {
                    Opened::PrometheusFile { file: File::open(base, "file", name)?, metrics: metrics.clone() }
                }
                Text::At(url) => Opened::PrometheusAt {
                    fetch: Fetch::open(url, prometheus::ACCEPT, self.outbound)?,
                    metrics: metrics.clone(),
                },
            },
            Source::Network(table) => Opened::Network { root: PathBuf::from("/"), table: *table },
            Source::Scenario | Source::A2a { .. } => return Ok(None),
        }))
    }
}

// === impl Opened ===

impl Opened {
    /// Reads the rows of one call. `now` dates rows that are read live; `reads` bounds the threads that read.
    pub(crate) async fn read(
        self: Arc<Self>,
        tool: Arc<Tool>,
        arguments: Arguments,
        reads: Arc<Semaphore>,
        now: String,
    ) -> Result<InvokeResult, Failure> {
        let within = tool.timeout;
        let work = async move {
            let fetched = match self.fetch() {
                Some(fetch) => fetch.get(tool.bytes_max).await?,
                None => Vec::new(),
            };
            let permit =
                reads.acquire_owned().await.map_err(|_| Failure::Unavailable("the node stops".to_owned()))?;
            // Dropped with this future, so that a thread whose caller is gone ends soon.
            let (stop, _left) = Stop::pair();
            let done = tokio::task::spawn_blocking(move || {
                // The thread counts as busy until it ends, whoever still waits for it.
                let _permit = permit;
                let mut sink = Sink::new(&tool, &arguments);
                if self.is_live() {
                    sink.read_at(now);
                }
                self.fill(&fetched, &tool, &mut sink, &stop)?;
                Ok(sink.finish())
            });
            done.await.unwrap_or_else(|_| Err(Failure::Unavailable("reading it failed".to_owned())))
        };
        tokio::time::timeout(within, work).await.unwrap_or(Err(Failure::Timeout))
    }

    fn fetch(&self) -> Option<&Fetch> {
        match self {
            Opened::HttpJson { fetch, .. } | Opened::PrometheusAt { fetch, .. } => Some(fetch),
            _ => None,
        }
    }

    fn is_live(&self) -> bool {
        matches!(self, Opened::HttpJson { .. } | Opened::PrometheusAt { .. } | Opened::Network { .. })
    }

    fn fill(&self, fetched: &[u8], tool: &Tool, sink: &mut Sink<'_>, stop: &Stop) -> Result<(), Failure> {
        match self {
            Opened::Json { file, pointer } => json::rows(&file.read(tool.bytes_max)?, pointer, sink),
            Opened::HttpJson { pointer, .. } => json::rows(fetched, pointer, sink),
            Opened::Csv(table) => table.rows(tool.bytes_max, sink),
            Opened::Sqlite(query) => query.rows(sink, stop),
            Opened::PrometheusFile { file, metrics } => {
                prometheus::rows(&file.read(tool.bytes_max)?, metrics, sink)
            }
            Opened::PrometheusAt { metrics, .. } => prometheus::rows(fetched, metrics, sink),
            Opened::Network { root, table } => network::rows(root, *table, sink),
        }
    }
}

// === Stop ===

/// Tells a reading thread that nobody waits for it any more.
#[derive(Debug, Clone)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// Sets the flag when it is dropped.
struct Left(Stop);

impl Stop {
    fn pair() -> (Stop, Left) {
        let stop = Stop(Arc::default());
        (stop.clone(), Left(stop))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
