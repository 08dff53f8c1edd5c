//! Every way a manifest can be wrong, and what is said of it.

use super::*;
use crate::manifest::scenario::{Action, Parts};

const GOOD: &str = r#"
[node]
id = "crm"
name = "Customers"
role = "whom to call"

[[tool]]
name = "crm.customers"
description = "customers by industry"
source = { kind = "json", file = "data/customers.json" }
fields = ["name", "industry"]
filters = ["industry"]

[[tool]]
name = "crm.play"
description = "plays"
source = { kind = "scenario" }

[[capability]]
id = "customer.reach"
name = "Reach"
description = "whom to call"
examples = ["whom to call?"]
tool = "crm.customers"

[[scenario.rule]]
name = "echo"
[[scenario.rule.step]]
answer = "{text}"
"#;

const MESH: &str = "[mesh]\nname = \"Weft\"\ndescription = \"a fleet\"\nversion = \"1.0.0\"\n";

fn parse(text: &str) -> Result<Manifest, Problems> {
    Manifest::parse("crm.toml", text)
}

/// Replaces `from` in the good manifest and expects one problem whose line has every one of `parts`.
fn check(from: &str, to: &str, parts: &[&str]) {
    assert!(GOOD.contains(from), "the good manifest lacks {from}");
    let text = GOOD.replacen(from, to, 1);
    let problems = parse(&text).expect_err(to).to_string();
    let told =
        problems.lines().any(|line| line.starts_with("crm.toml: ") && parts.iter().all(|p| line.contains(p)));
    assert!(told, "with {to:?}, no line has {parts:?}:\n{problems}");
}

#[test]
fn a_good_manifest_is_read_with_its_defaults() {
    let manifest = parse(GOOD).unwrap();
    assert_eq!((manifest.node.id.as_str(), manifest.node.seal()), ("crm", weft::SealMode::Ed25519));
    let tool = manifest.tool("crm.customers").unwrap();
    assert_eq!((tool.rows_max, tool.bytes_max, tool.timeout), (100, 256 * 1024, Duration::from_secs(5)));
    assert_eq!(manifest.node.tools.len(), 2);
    let capability = &manifest.capabilities[0];
    assert_eq!(capability.output_modes, ["text/plain", "application/json"]);
    let target = weft::ToolTarget { node: "crm".into(), tool: "crm.customers".into() };
    assert_eq!(capability.target, Some(weft::capability::Target::Tool(target)));
}

#[test]
fn what_is_no_toml_says_where() {
    check("[node]", "[node", &["not valid TOML", "line 2"]);
}

#[test]
fn a_bad_node_names_key_value_and_remedy() {
    check("[node]\nid", "[nod]\nid", &["`node` is missing", "[node] with id, name, role"]);
    check("[node]\nid", "[nod]\nid", &["`nod`", "not a known key", "capability, node, scenario, tool"]);
    check("id = \"crm\"", "id = \"Crm!\"", &["`node.id`", "\"Crm!\"", "lower case letters"]);
    check("id = \"crm\"", "id = \"tasks\"", &["`node.id`", "\"tasks\"", "another id"]);
    check("id = \"crm\"", "id = \"v1\"", &["`node.id`", "\"v1\"", "another id"]);
    check("id = \"crm\"", "id = 3", &["`node.id`", "is 3", "text in quotes"]);
    check("id = \"crm\"", "", &["`node.id` is missing", "the node's id"]);
    check("role = \"whom to call\"", "role = \"\"", &["`node.role`", "\"\"", "one line"]);
    check("role = \"whom to call\"", "role = \"a\\nb\"", &["`node.role`", "control characters"]);
    check(
        "role = \"whom to call\"",
        &format!("role = \"{}\"", "x".repeat(121)),
        &["`node.role`", "121", "at most 120"],
    );
    check(
        "name = \"Customers\"",
        "name = \"C\"\nnaam = 1",
        &["`node.naam`", "is 1", "not a known key", "address, id, name"],
    );
}

#[test]
fn a_bad_address_seal_or_key_names_key_value_and_remedy() {
    let with =
        |line: &str, parts: &[&str]| check("name = \"Customers\"", &format!("name = \"C\"\n{line}"), parts);
    for bad in
        ["crm:80", "ftp://crm", "http://", "http://u:p@crm", "http://crm/?a", "http://crm/#a", "http://a b"]
    {
        with(&format!("address = \"{bad}\""), &["`node.address`", bad, "absolute http:// or https:// URL"]);
    }
    with("seal = \"none\"", &["`node.seal`", "\"none\"", "ed25519", "derived", "shared"]);
    with("public_key = \"abc\"", &["`node.public_key`", "\"abc\"", "43 characters"]);
    let key = "A".repeat(43);
    with(
        &format!("seal = \"shared\"\npublic_key = \"{key}\""),
        &["`node.public_key`", "ed25519", "remove one"],
    );
}

#[test]
fn a_bad_tool_names_key_value_and_remedy() {
    check(
        "name = \"crm.customers\"",
        "name = \"Crm Customers\"",
        &["`tool(Crm Customers).name`", "lower case"],
    );
    check(
        "name = \"crm.play\"",
        "name = \"crm.customers\"",
        &["`tool`", "\"crm.customers\" twice", "name of its own"],
    );
    check(
        "description = \"customers by industry\"",
        &format!("description = \"{}\"", "x".repeat(121)),
        &["`tool(crm.customers).description`", "at most 120"],
    );
    check(
        "fields = [\"name\", \"industry\"]",
        "",
        &["`tool(crm.customers).fields` is missing", "may leave the node"],
    );
    check(
        "fields = [\"name\", \"industry\"]",
        "fields = []",
        &["`tool(crm.customers).fields`", "empty", "at least one"],
    );
    check("fields = [\"name\",", "fields = [\"industry\",", &["fields", "\"industry\" twice"]);
    check("fields = [\"name\", \"industry\"]", "fields = \"name\"", &["fields", "\"name\"", "list of texts"]);
    check("filters = [\"industry\"]", "filters = [\"phone\"]", &["filters", "\"phone\"", "one of `fields`"]);
    check("filters = [\"industry\"]", "as_of = \"day\"", &["as_of", "\"day\"", "one of `fields`"]);
    check("filters = [\"industry\"]", "rows_max = 0", &["rows_max", "is 0", "from 1 to 10000"]);
    check("filters = [\"industry\"]", "rows_max = \"5\"", &["rows_max", "\"5\"", "whole number"]);
    check("filters = [\"industry\"]", "rows_max = -5", &["rows_max", "-5", "whole number"]);
    check("filters = [\"industry\"]", "bytes_max = 1", &["bytes_max", "is 1", "from 1024"]);
    check("filters = [\"industry\"]", "timeout_ms = 0", &["timeout_ms", "is 0", "from 1"]);
    check(
        "filters = [\"industry\"]",
        "row_max = 5",
        &["`tool(crm.customers).row_max`", "is 5", "not a known key", "rows_max"],
    );
}

#[test]
fn a_bad_source_names_key_value_and_remedy() {
    let json = "{ kind = \"json\", file = \"data/customers.json\" }";
    let with = |source: &str, parts: &[&str]| check(json, source, parts);
    with("{ file = \"a\" }", &["source.kind` is missing", "json, csv, sqlite"]);
    with("{ kind = \"shell\" }", &["source.kind`", "\"shell\"", "json, csv, sqlite"]);
    with("\"json\"", &["source`", "\"json\"", "must be a table"]);
    with("{ kind = \"json\" }", &["source.file` is missing", "beside the manifest"]);
    for bad in ["/etc/passwd", "../a.json", "a/../b", "a//b", "./a", "a\\\\b"] {
        with(&format!("{{ kind = \"json\", file = \"{bad}\" }}"), &["source.file`", "stays within"]);
    }
    with(
        "{ kind = \"json\", file = \"a\", pointer = \"rows\" }",
        &["source.pointer`", "\"rows\"", "/data/rows"],
    );
    with("{ kind = \"json\", file = \"a\", query = \"x\" }", &["source.query`", "not a known key"]);
    with("{ kind = \"csv\", file = \"a\", delimiter = \";;\" }", &["source.delimiter`", "at most 1"]);
    with("{ kind = \"sqlite\", query = \"SELECT 1\" }", &["source.file` is missing", "`build`"]);
    with(
        "{ kind = \"sqlite\", file = \"a\", build = \"b\", query = \"SELECT 1\" }",
        &["source.file`", "not both"],
    );
    with("{ kind = \"sqlite\", file = \"a\" }", &["source.query` is missing", "one SELECT"]);
    with(
        "{ kind = \"sqlite\", file = \"a\", query = \"DROP TABLE a\" }",
        &["source.query`", "DROP TABLE", "one SELECT"],
    );
    with(
        "{ kind = \"sqlite\", build = \"a\", csv = { \"a b\" = \"c\" }, query = \"SELECT 1\" }",
        &["source.csv`", "a b"],
    );
    with(
        "{ kind = \"sqlite\", build = \"a\", csv = { a = \"../c\" }, query = \"SELECT 1\" }",
        &["csv`", "stays within"],
    );
    for bad in ["file:///etc/passwd", "http://u:p@h/", "http://h/#f", "h"] {
        with(&format!("{{ kind = \"http_json\", url = \"{bad}\" }}"), &["source.url`", bad, "absolute http"]);
    }
    with(
        "{ kind = \"http_json\", url = \"http://h/\", private = \"yes\" }",
        &["source.private`", "true or false"],
    );
    with(
        "{ kind = \"prometheus\", url = \"http://h/\" }",
        &["source.metrics` is missing", "names of the metrics"],
    );
    with(
        "{ kind = \"prometheus\", url = \"http://h/\", file = \"a\", metrics = [\"up\"] }",
        &["source.file`", "not both"],
    );
    with("{ kind = \"network\", table = \"packets\" }", &["source.table`", "\"packets\"", "neighbours"]);
}

#[test]
fn a_bad_capability_names_key_value_and_remedy() {
    check("id = \"customer.reach\"", "id = \"reach\"", &["`capability(reach).id`", "group.verb"]);
    check(
        "tool = \"crm.customers\"",
        "tool = \"crm.custom\"",
        &["`capability(customer.reach).tool`", "\"crm.custom\"", "it has crm.customers, crm.play"],
    );
    check("tool = \"crm.customers\"", "", &["`capability(customer.reach).tool` is missing"]);
    check(
        "examples = [\"whom to call?\"]",
        "",
        &["`capability(customer.reach).examples` is missing", "one question"],
    );
    check("examples = [\"whom to call?\"]", "examples = [\"\"]", &["examples", "empty text"]);
    check(
        "examples = [\"whom to call?\"]",
        "examples = [\"a\"]\noutput_modes = [\"text\"]",
        &["output_modes", "\"text\"", "media type"],
    );
    let again = "[[capability]]\nid = \"customer.reach\"\nname = \"R\"\ndescription = \"d\"\nexamples = [\"e\"]\n\
                 tool = \"crm.customers\"\n[[scenario.rule]]";
    check("[[scenario.rule]]", again, &["`capability`", "\"customer.reach\" twice", "id of its own"]);
}

#[test]
fn a_bad_scenario_names_key_value_and_remedy() {
    let with = |step: &str, parts: &[&str]| check("answer = \"{text}\"", step, parts);
    with("", &["delay_ms` is missing", "a step needs status"]);
    with("status = \"done\"", &["status`", "\"done\"", "completed"]);
    with("answer = \"a\"\ndrop = true", &["`scenario.rule(echo).step(1).drop`", "split it"]);
    with("answer = 9007199254740993", &["answer`", "9007199254740993", "write it as text"]);
    with("artifact = {}", &["artifact.parts` is missing", "echo = true"]);
    with("artifact = { echo = true, text = \"a\" }", &["artifact.echo`", "not both"]);
    with("artifact = { parts = [{ raw = \"?\" }] }", &["raw`", "base64"]);
    with("artifact = { parts = [{ text = \"a\", url = \"b\" }] }", &["exactly one of text, data, raw, url"]);
    with("artifact = { text = \"a\", chunked = true, more = true }", &["artifact.chunked`", "leave out"]);
    with("message = {}", &["message.parts` is missing", "`text` or `parts`"]);
    with("message = { text = \"a\", state = \"working\" }", &["message.state`", "not a known key"]);
    with("message = { text = \"a\" }\nrepeat = 2", &["repeat`", "ends the play"]);
    with("message = { text = \"a\" }\n[[scenario.rule.step]]\ndrop = true", &["step`", "never played"]);
    with("fail = { code = \"bad code\" }", &["fail.code`", "\"bad code\"", "upper case"]);
    with("drop = false", &["drop`", "must be true"]);
    with("status = \"completed\"\nrepeat = 2", &["repeat`", "is 2", "ends the play"]);
    with("drop = true\ndelay_ms = 9999999", &["delay_ms`", "9999999", "to 600000"]);
    with("drop = true\n[[scenario.rule.step]]\ndrop = true", &["step`", "never played"]);
    with(
        "drop = true\n[[scenario.rule]]\nname = \"late\"\n[[scenario.rule.step]]\ndrop = true",
        &["\"late\"", "move that one last"],
    );
    check(
        "[[scenario.rule.step]]",
        "[scenario.rule.when]\ndata_equals = 1\n[[scenario.rule.step]]",
        &["data_field` is missing"],
    );
    check(
        "[[scenario.rule.step]]",
        "[scenario.rule.when]\ntext = \"a\"\n[[scenario.rule.step]]",
        &["when.text`", "text_prefix"],
    );
    check(
        "source = { kind = \"scenario\" }",
        "source = { kind = \"json\", file = \"a\" }\nfields = [\"a\"]",
        &["`scenario`", "no tool plays it"],
    );
}

#[test]
fn a_scenario_is_read_as_it_is_written() {
    let text = GOOD.replacen(
        "answer = \"{text}\"",
        "artifact = { name = \"story\", chunked = true, text = \"{n}\", parts = [{ raw = \"AAE=\", filename = \"a.bin\" }] }\n\
         repeat = 3\ndelay_ms = 10",
        1,
    );
    let manifest = parse(&text).unwrap();
    let step = &manifest.rules[0].steps[0];
    assert_eq!((step.repeat, step.delay_ms), (3, 10));
    let Action::Artifact(artifact) = &step.action else { panic!("{step:?}") };
    let Parts::Listed(parts) = &artifact.parts else { panic!("{artifact:?}") };
    assert!(artifact.chunked);
    assert_eq!(parts[1].content, Some(weft_proto::a2a::part::Content::Raw(vec![0, 1])));
}

#[test]
fn a_capability_is_direct_where_its_scenario_may_answer_with_a_message() {
    let direct = |text: &str| parse(text).unwrap().capabilities[0].direct;
    let played = GOOD.replace("tool = \"crm.customers\"", "tool = \"crm.play\"");
    let said = |text: &str| text.replace("answer = \"{text}\"", "message = { text = \"{text}\" }");
    assert!(direct(&said(&played)));
    assert!(!direct(&played), "it answers with its task");
    assert!(!direct(&said(GOOD)), "another tool of the node does");
}

#[test]
fn a_fleet_is_all_files_sorted_by_node() {
    let other = GOOD.replace("\"crm\"", "\"axe\"").replace("customer.reach", "customer.axe");
    let fleet = Fleet::parse([("crm.toml", GOOD), (MESH_FILE, MESH), ("axe.toml", other.as_str())]).unwrap();
    let snapshot = fleet.snapshot();
    assert_eq!(snapshot.nodes.iter().map(|n| n.id.as_str()).collect::<Vec<_>>(), ["axe", "crm"]);
    let ids: Vec<_> = snapshot.capabilities.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["customer.axe", "customer.reach"]);
}

#[test]
fn the_mesh_declares_its_extensions() {
    let with = |extension: &str| Mesh::parse(&format!("{MESH}{extension}"));
    let good = "[[extension]]\nuri = \"https://x.example/e/v1\"\ndescription = \"d\"\nrequired = true\n\
                params = { most = 3 }\n";
    let info = with(good).unwrap().info;
    assert_eq!(
        (info.extensions[0].uri.as_str(), info.extensions[0].required),
        ("https://x.example/e/v1", true)
    );
    assert_eq!(info.extensions[0].params, Some(crate::value::members([("most", number(3.0))])));
    let fails = |from: &str, to: &str, parts: &[&str]| {
        let problems = with(&good.replace(from, to)).unwrap_err().to_string();
        assert!(problems.lines().any(|line| parts.iter().all(|p| line.contains(p))), "{parts:?}: {problems}");
    };
    fails("uri = \"https://x.example/e/v1\"\n", "", &["`extension(1).uri` is missing"]);
    for bad in ["e", "urn:a,urn:b", "urn:a b", ":x"] {
        fails("https://x.example/e/v1", bad, &["`extension(1).uri`", bad, "absolute URI"]);
    }
    fails("https://x.example/e/v1", crate::card::MESH_EXTENSION, &["`extension(1).uri`", "the mesh itself"]);
    fails("description = \"d\"\n", "", &["`extension(1).description` is missing"]);
    fails("required = true", "required = 1", &["`extension(1).required`", "true or false"]);
    fails("{ most = 3 }", "3", &["`extension(1).params`", "must be a table"]);
    fails("{ most = 3 }", "{ most = 9007199254740993 }", &["`extension(1).params`", "write it as text"]);
    fails("params", "param", &["`extension(1).param`", "not a known key"]);
    fails("[[extension]]", &format!("{good}[[extension]]"), &["`extension`", "twice"]);
}

fn number(n: f64) -> weft_proto::wkt::Value {
    weft_proto::wkt::Value { kind: Some(weft_proto::wkt::Kind::Number(n)) }
}

#[test]
fn what_is_wrong_between_files_names_both() {
    let fails = |files: &[(&str, &str)], parts: &[&str]| {
        let problems = Fleet::parse(files.iter().copied()).unwrap_err().to_string();
        assert!(problems.lines().any(|line| parts.iter().all(|p| line.contains(p))), "{parts:?}: {problems}");
    };
    fails(&[("crm.toml", GOOD)], &["mesh.toml", "missing"]);
    fails(
        &[(MESH_FILE, MESH), ("a.toml", GOOD), ("b.toml", GOOD)],
        &["b.toml", "node.id", "\"crm\"", "a.toml"],
    );
    let twin = GOOD.replace("\"crm\"", "\"b\"");
    fails(
        &[(MESH_FILE, MESH), ("a.toml", GOOD), ("b.toml", &twin)],
        &["\"customer.reach\"", "change one id"],
    );
    let dangling = |node: &str, tool: &str| {
        format!(
            "{MESH}[[capability]]\nid = \"a.b\"\nname = \"n\"\ndescription = \"d\"\nexamples = [\"e\"]\n\
             node = \"{node}\"\ntool = \"{tool}\"\n"
        )
    };
    fails(
        &[(MESH_FILE, &dangling("lan", "x")), ("a.toml", GOOD)],
        &[MESH_FILE, "capability(a.b).node", "\"lan\"", "crm"],
    );
    fails(
        &[(MESH_FILE, &dangling("crm", "x")), ("a.toml", GOOD)],
        &[MESH_FILE, "capability(a.b).tool", "\"x\"", "crm.play"],
    );
    fails(&[(MESH_FILE, "[mesh]\nname = 1"), ("a.toml", GOOD)], &[MESH_FILE, "mesh.name", "is 1"]);
}
