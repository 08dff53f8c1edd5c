//! The seed table: every number once, and nothing named that is not there.

use std::path::Path;

#[test]
fn the_seed_table_has_every_number_once_counts_right_and_names_only_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read =
        |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let (table, states) = (read("docs/seeds.md"), ["met", "partly", "later", "otherwise"]);
    let mut rows = table
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| row.len() == 6 && row[1].len() == 5);
    for (group, last) in [("H", 91), ("R", 52), ("L", 66), ("M", 46)] {
        let mut counts = [0; 4];
        for number in 1..=last {
            let row = rows.next().expect("a row is missing");
            assert_eq!(row[1], format!("{group}-{number:03}"));
            let state = states.iter().position(|state| *state == row[3]).unwrap_or_else(|| panic!("{row:?}"));
            counts[state] += 1;
            let references: Vec<_> = row[4].split('`').skip(1).step_by(2).collect();
            assert!(!references.is_empty() || state > 1, "{row:?} names no place");
            for (path, name) in references.into_iter().map(|r| r.split_once('#').unwrap_or((r, ""))) {
                assert!(read(path).contains(name), "{}: {path} holds no {name}", row[1]);
            }
        }
        let [met, partly, later, otherwise] = counts;
        assert!(
            table.contains(&format!("| {group} | {met} | {partly} | {later} | {otherwise} | {last} |")),
            "{group}: {counts:?}"
        );
    }
    assert_eq!(rows.next(), None);
}
