//! The golden set: free text against the capabilities of the default fleet, with a stated score.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails; the score is shown"
)]

use std::fs;
use std::path::Path;

use weft_core::manifest::Fleet;
use weft_core::route::{Choice, Index};
use weft_proto::a2a::part::Content;
use weft_proto::a2a::{Message, Part, Role, SendMessageRequest};

/// Least share of the questions that go where they belong, in percent; together, and of those that belong nowhere.
const SCORE_MIN: usize = 90;

fn fleet() -> Index {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/fleet");
    let mut files: Vec<(String, String)> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read_to_string(path).unwrap()));
        }
    }
    let fleet = Fleet::parse(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))).unwrap();
    Index::new(fleet.snapshot().capabilities)
}

fn chosen(index: &Index, question: &str) -> String {
    let part = Part { content: Some(Content::Text(question.to_owned())), ..Part::default() };
    let message =
        Message { message_id: "m".into(), role: Role::User.into(), parts: vec![part], ..Message::default() };
    let request = SendMessageRequest { message: Some(message), ..SendMessageRequest::default() };
    match index.choose(&request).unwrap() {
        Choice::Run(route) => route.capability,
        Choice::Ask => "-".to_owned(),
    }
}

#[test]
fn free_text_goes_where_it_belongs_and_nowhere_when_it_belongs_nowhere() {
    let index = fleet();
    let golden = include_str!("routing/golden.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut asked, mut right, mut nowhere, mut kept_out) = (0, 0, 0, 0);
    let mut misses = String::new();
    for (expected, question) in golden.map(|line| line.split_once('\t').unwrap()) {
        let found = chosen(&index, question);
        let hit = found == expected;
        asked += 1;
        right += usize::from(hit);
        nowhere += usize::from(expected == "-");
        kept_out += usize::from(expected == "-" && hit);
        if !hit {
            misses.push_str(&format!("  {question}: {found}, not {expected}; {:?}\n", index.rank(question)));
        }
    }
    println!("golden set: {right} of {asked} right, {kept_out} of {nowhere} kept out\n{misses}");
    assert!(asked >= 60 && nowhere >= 20, "{asked} questions, {nowhere} of them for nobody");
    assert!(right * 100 >= asked * SCORE_MIN, "{right} of {asked}:\n{misses}");
    assert!(kept_out * 100 >= nowhere * SCORE_MIN, "{kept_out} of {nowhere}:\n{misses}");
}

#[test]
fn every_declared_example_goes_to_the_capability_that_declares_it() {
    let index = fleet();
    for capability in index.capabilities() {
        for example in &capability.examples {
            assert_eq!(chosen(&index, example), capability.id, "{example}; {:?}", index.rank(example));
        }
    }
}
