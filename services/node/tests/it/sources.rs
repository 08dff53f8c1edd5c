//! Files and databases: what leaves of them, within which limits, and what is said when they fail.

use serde_json::json;

use crate::world::{World, manifest, write};

const JSON: &str = "{ kind = \"json\", file = \"rows.json\" }";

async fn opens_not(text: &str, files: &[(&str, &str)], parts: &[&str]) {
    let problems = World::try_open(text, files).await.err().expect("it opens").to_string();
    assert!(parts.iter().all(|part| problems.contains(part)), "{problems} lacks one of {parts:?}");
}

#[tokio::test]
async fn a_field_that_is_not_on_the_list_never_leaves() {
    let rows = r#"[{"name":"a","password":"p4ss","nested":{"token":"t0k"}},{"password":"p4ss"},"stray",[1]]"#;
    let world = World::open(&manifest(JSON, "fields = [\"name\"]"), &[("rows.json", rows)]).await;
    let answer = world.rows(json!({})).await;
    assert_eq!(
        answer,
        json!({"count": 4, "rows": [{"name": "a"}, {"name": null}, {"name": null}, {"name": null}]})
    );
}

#[tokio::test]
async fn rows_are_found_by_pointer_and_an_object_is_one_row() {
    let text = r#"{"data":{"a/b":[{"n":1}],"one":{"n":2}}}"#;
    for (pointer, n) in [("/data/a~1b", 1), ("/data/one", 2), ("/data/a~1b/0", 1)] {
        let source = format!("{{ kind = \"json\", file = \"rows.json\", pointer = \"{pointer}\" }}");
        let world = World::open(&manifest(&source, "fields = [\"n\"]"), &[("rows.json", text)]).await;
        assert_eq!(world.rows(json!({})).await["rows"], json!([{"n": n}]), "{pointer}");
    }
}

#[tokio::test]
async fn an_answer_ends_at_its_limits_and_says_so() {
    let rows =
        serde_json::to_string(&(0..50).map(|n| json!({"n": n, "pad": "x".repeat(100)})).collect::<Vec<_>>())
            .unwrap();
    let files = [("rows.json", rows.as_str())];
    let world = World::open(&manifest(JSON, "fields = [\"n\"]\nrows_max = 10"), &files).await;
    let answer = world.rows(json!({})).await;
    assert_eq!((answer["count"].clone(), answer["truncated"].clone()), (json!(10), json!(true)));
    let world = World::open(&manifest(JSON, "fields = [\"n\"]\nrows_max = 50"), &files).await;
    let answer = world.rows(json!({})).await;
    assert_eq!((answer["count"].clone(), answer.get("truncated")), (json!(50), None));
    let world = World::open(&manifest(JSON, "fields = [\"pad\"]\nbytes_max = 8192"), &files).await;
    let answer = world.rows(json!({})).await;
    assert_eq!(answer["count"], 50, "5 kB fit");
    write(world.folder.path(), "rows.json", &"[1]".repeat(4_096));
    let (code, text) = world.failure(json!({})).await;
    assert_eq!((code.as_str(), text.contains("8192 bytes")), ("TOO_LARGE", true), "{text}");
}

#[tokio::test]
async fn arguments_filter_by_declared_fields_and_anything_else_is_named() {
    let rows = r#"[{"n":1,"kind":"a"},{"n":2,"kind":"b"},{"n":3,"kind":"a"}]"#;
    let lines = "fields = [\"n\", \"kind\"]\nfilters = [\"kind\"]\nrows_max = 5";
    let world = World::open(&manifest(JSON, lines), &[("rows.json", rows)]).await;
    assert_eq!(world.rows(json!({"kind": "a"})).await["count"], 2);
    assert_eq!(world.rows(json!({"kind": "a", "limit": 1})).await["rows"], json!([{"n": 1, "kind": "a"}]));
    for (arguments, name) in [
        (json!({"n": 1}), "arguments.n"),
        (json!({"kind": ["a"]}), "arguments.kind"),
        (json!({"limit": 0}), "arguments.limit"),
        (json!({"limit": 6}), "arguments.limit"),
        (json!({"limit": 1.5}), "arguments.limit"),
        (json!({"limit": "2"}), "arguments.limit"),
    ] {
        let (code, text) = world.failure(arguments).await;
        assert_eq!(code, "INVALID_ARGUMENTS");
        assert!(text.starts_with(name), "{text}");
    }
    let none = world.call("test.rows", json!({"kind": "c"})).await;
    assert_eq!((none.ok, none.empty), (true, true));
}

#[tokio::test]
async fn a_source_that_fails_says_so_without_a_path() {
    let world = World::open(&manifest(JSON, "fields = [\"n\"]"), &[("rows.json", "[]")]).await;
    let path = world.folder.path().display().to_string();
    for broken in ["", "{", "7", r#"[{"n": 9007199254740993}]"#] {
        write(world.folder.path(), "rows.json", broken);
        let (code, text) = world.failure(json!({})).await;
        assert_eq!(code, "SOURCE_UNAVAILABLE", "{broken:?}");
        assert!(!text.contains(&path) && !text.contains("rows.json"), "{text}");
    }
    std::fs::remove_file(world.folder.path().join("rows.json")).unwrap();
    assert_eq!(world.failure(json!({})).await.0, "SOURCE_UNAVAILABLE");
}

#[tokio::test]
async fn csv_cells_are_text_unless_a_column_is_declared_as_numbers() {
    let source = "{ kind = \"csv\", file = \"rows.csv\", delimiter = \";\", numbers = [\"price\"] }";
    let text = manifest(source, "fields = [\"code\", \"price\"]\nas_of = \"code\"");
    let rows = "\u{feff}code;price;secret\n007;1.50;x\n\"a;b\";;y\n008;9007199254740993;z\n";
    let world = World::open(&text, &[("rows.csv", rows)]).await;
    let answer = world.rows(json!({})).await;
    assert_eq!(
        answer["rows"],
        json!([
            {"code": "007", "price": 1.5},
            {"code": "a;b", "price": null},
            {"code": "008", "price": "9007199254740993"},
        ])
    );
    assert_eq!(answer["as_of"], "a;b", "the greatest value of the field");
    write(world.folder.path(), "rows.csv", "code;price\na;cheap\n");
    assert!(world.failure(json!({})).await.1.contains("column `price` is not a number"));
    write(world.folder.path(), "rows.csv", "code;price\na;1;2\n");
    assert_eq!(world.failure(json!({})).await.0, "SOURCE_UNAVAILABLE");
    opens_not(&text, &[("rows.csv", "code;cost\n")], &["source.file", "no column \"price\"", "code, cost"])
        .await;
}

const SCRIPT: &str = "CREATE TABLE item (name TEXT, n INTEGER, price REAL, secret TEXT);
    INSERT INTO item VALUES ('a', 9007199254740993, 0.1, 's'), ('b', NULL, NULL, 't');";

fn sqlite(query: &str) -> String {
    let source = format!(
        "{{ kind = \"sqlite\", build = \"item.sql\", csv = {{ item = \"item.csv\" }}, query = \"{query}\" }}"
    );
    manifest(&source, "fields = [\"name\", \"n\", \"price\"]")
}

#[tokio::test]
async fn a_query_answers_from_a_database_that_is_built_and_rebuilt_from_its_inputs() {
    let files = [("item.sql", SCRIPT), ("item.csv", "name,n\nc,3\nd,\n")];
    let world = World::open(&sqlite("SELECT * FROM item ORDER BY name"), &files).await;
    let answer = world.rows(json!({})).await;
    assert_eq!(
        answer["rows"],
        json!([
            {"name": "a", "n": "9007199254740993", "price": 0.1},
            {"name": "b", "n": null, "price": null},
            {"name": "c", "n": 3, "price": null},
            {"name": "d", "n": null, "price": null},
        ])
    );
    write(world.folder.path(), "item.csv", "name,n\nchanged,4\n");
    assert_eq!(world.rows(json!({})).await["rows"][2]["name"], "changed");
    write(world.folder.path(), "item.csv", "name,none\nx,4\n");
    assert_eq!(world.failure(json!({})).await.0, "SOURCE_UNAVAILABLE");
}

#[tokio::test]
async fn a_database_is_only_read() {
    let files = [("item.sql", SCRIPT), ("item.csv", "name\n")];
    opens_not(
        &sqlite("SELECT name FROM item"),
        &files,
        &["source.query", "no column \"n\"", "it gives name"],
    )
    .await;
    opens_not(&sqlite("SELECT * FROM missing_table"), &files, &["source.query", "no such table"]).await;
    opens_not(&sqlite("WITH x AS (SELECT 1) DELETE FROM item RETURNING *"), &files, &["must only read"])
        .await;
    opens_not(&sqlite("SELECT * FROM item WHERE n = ?"), &files, &["parameters"]).await;
    opens_not(&sqlite("SELECT * FROM item; SELECT 1"), &files, &["source.query"]).await;
    opens_not(
        &sqlite("SELECT *"),
        &[("item.sql", "CREATE"), ("item.csv", "")],
        &["source.build", "the script fails"],
    )
    .await;
    opens_not(&sqlite("SELECT *"), &[("item.sql", SCRIPT)], &["source.csv", "\"item.csv\"", "no such file"])
        .await;
}

#[tokio::test]
async fn a_query_that_takes_too_long_is_ended() {
    let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) AS n, 'a' AS name, 1 AS price FROM c";
    let text = format!("{}timeout_ms = 50\n", sqlite(endless));
    let world = World::open(&text, &[("item.sql", SCRIPT), ("item.csv", "name\n")]).await;
    assert_eq!(world.failure(json!({})).await.0, "TIMEOUT");
    // The runtime waits for its threads when it ends: this test ends only because the query was ended too.
}

#[tokio::test]
async fn prometheus_text_of_a_file_gives_the_selected_metrics() {
    let source = "{ kind = \"prometheus\", file = \"m.txt\", metrics = [\"up\", \"load\"] }";
    let text = manifest(source, "fields = [\"metric\", \"job\", \"value\"]\nfilters = [\"job\"]");
    let metrics = "# HELP up Up\nup{job=\"a\",secret=\"x\"} 1\nother 3\nup{job=\"b\"} 0 17\nload NaN\n";
    let world = World::open(&text, &[("m.txt", metrics)]).await;
    assert_eq!(
        world.rows(json!({})).await["rows"],
        json!([
            {"metric": "up", "job": "a", "value": 1},
            {"metric": "up", "job": "b", "value": 0},
            {"metric": "load", "job": null, "value": "NaN"},
        ])
    );
    assert_eq!(world.rows(json!({"job": "b"})).await["count"], 1);
    write(world.folder.path(), "m.txt", "up{job=\"a\" 1\n");
    assert!(world.failure(json!({})).await.1.contains("line 1"));
}
