//! `docs/limits.md` is written from the constants and defaults that the code goes by. `WEFT_WRITE_DOCS=1` writes it
//! again.

use std::fmt::Write;
use std::path::Path;

use weft_core::{Kind, message};

/// One limit: what is bounded, how much, what sets it, and the fault behind it.
struct Row(&'static str, String, &'static str, Kind);

fn rows() -> Vec<Row> {
    let (edge, tasks) = (weft_edge::Settings::default(), weft_tasks::Settings::default());
    let fixed = "–";
    let mib = |bytes: u64| format!("{} MiB", bytes / 1_048_576);
    let any = |most: u64| if most == 0 { "any number".to_owned() } else { most.to_string() };
    let seconds = |ms: u32| format!("{} s", f64::from(ms) / 1_000.0);
    vec![
        Row("one request, decoded", mib(edge.body_bytes_max.into()), "edge.body_bytes_max", Kind::TooLarge),
        Row("time for a body to arrive", seconds(edge.body_read_ms), "edge.body_read_ms", Kind::Deadline),
        Row("compressed bodies", "none are taken".to_owned(), fixed, Kind::ContentTypeNotSupported),
        Row("parts of one message", message::PARTS_MAX.to_string(), fixed, Kind::Invalid),
        Row(
            "entries of any other list (extensions, modes, references)",
            message::LIST_MAX.to_string(),
            fixed,
            Kind::Invalid,
        ),
        Row(
            "an id or an `Idempotency-Key`",
            format!("{} characters", message::ID_CHARS_MAX),
            fixed,
            Kind::Invalid,
        ),
        Row(
            "nesting of a whole request",
            weft_proto::json::MAX_DOCUMENT_DEPTH.to_string(),
            fixed,
            Kind::Invalid,
        ),
        Row(
            "nesting of metadata or a data part",
            weft_proto::json::MAX_JSON_DEPTH.to_string(),
            fixed,
            Kind::Invalid,
        ),
        Row("numbers", "what a double holds exactly".to_owned(), fixed, Kind::Invalid),
        Row("tasks of one page", "1 to 100, 50 unless asked".to_owned(), fixed, Kind::Invalid),
        Row("one task with all it holds", mib(tasks.task_bytes_max), "tasks.task_bytes_max", Kind::TooLarge),
        Row("messages of one task", tasks.messages_max.to_string(), "tasks.messages_max", Kind::TooLarge),
        Row(
            "webhooks of one task",
            tasks.push_configs_max.to_string(),
            "tasks.push_configs_max",
            Kind::TooLarge,
        ),
        Row("readers of one task", tasks.readers_max.to_string(), "tasks.readers_max", Kind::Exhausted),
        Row(
            "open streams of one caller",
            edge.owner_streams_max.to_string(),
            "edge.owner_streams_max",
            Kind::Exhausted,
        ),
        Row("open streams", edge.streams_max.to_string(), "edge.streams_max", Kind::Exhausted),
        Row("calls under way", edge.calls_max.to_string(), "edge.calls_max", Kind::Exhausted),
        Row(
            "calls a second of one address",
            edge.rate_per_second.to_string(),
            "edge.rate_per_second",
            Kind::Exhausted,
        ),
        Row(
            "messages a minute of one caller",
            any(edge.messages_per_minute.into()),
            "edge.messages_per_minute",
            Kind::Exhausted,
        ),
        Row("tasks that wait for a worker", tasks.queue_max.to_string(), "tasks.queue_max", Kind::Exhausted),
        Row("tasks kept", tasks.tasks_max.to_string(), "tasks.tasks_max", Kind::Exhausted),
        Row("tasks of one owner", any(tasks.owner_tasks_max), "tasks.owner_tasks_max", Kind::Exhausted),
        Row("bytes of one owner", mib(tasks.owner_bytes_max), "tasks.owner_bytes_max", Kind::Exhausted),
        Row(
            "tasks of one owner without credentials",
            any(tasks.anonymous_tasks_max),
            "tasks.anonymous_tasks_max",
            Kind::Exhausted,
        ),
        Row(
            "messages of one context",
            any(tasks.context_turns_max.into()),
            "tasks.context_turns_max",
            Kind::TooLarge,
        ),
    ]
}

fn page() -> String {
    let mut page = String::from(
        "# Limits\n\nThe same on every binding. A limit with a setting is changed there; `weft up --help` shows the \
         bounds of each.\nThis page is written by a test from the code.\n\n\
         | what | limit | setting | reason | JSON-RPC | HTTP | gRPC |\n|---|---|---|---|---|---|---|\n",
    );
    for Row(what, limit, setting, kind) in rows() {
        let row = kind.row();
        let setting = if setting == "–" { setting.to_owned() } else { format!("`{setting}`") };
        // What never becomes a call has a status of its own.
        let http = match (kind, what) {
            (Kind::Deadline, _) => 408,
            (_, "compressed bodies") => 415,
            _ => row.http,
        };
        let grpc = tonic::Code::from_i32(row.grpc);
        writeln!(
            page,
            "| {what} | {limit} | {setting} | `{}` | {} | {http} | {grpc:?} |",
            row.reason, row.jsonrpc
        )
        .unwrap();
    }
    let (inline, run) = (edge_inline(), weft_tasks::Settings::default().run_ms_max / 1_000);
    write!(
        page,
        "\nA file of more than {inline} KiB (`edge.inline_bytes_max`) is not refused: answers hold a link to it, which \
         serves it whole or by range.\n\nWhere an owner or the store is full, its oldest ended tasks make room; new work is \
         refused when none has ended. The\naccess file gives single principals other figures (`allowance`): messages a \
         minute, streams, tasks, bytes, messages of a\ncontext. A turn that runs longer than {run} s (`tasks.run_ms_max`) \
         ends FAILED with the code `task_timeout`.\n"
    )
    .unwrap();
    page
}

/// Largest file that is written into an answer, in KiB.
fn edge_inline() -> u32 {
    weft_edge::Settings::default().inline_bytes_max / 1_024
}

#[test]
fn the_page_of_limits_says_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let page = page();
    if std::env::var_os("WEFT_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "run this test with WEFT_WRITE_DOCS=1 and commit docs/limits.md");
}
