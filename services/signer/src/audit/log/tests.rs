//! The record on a real disk.

use super::super::{Cursor, check};
use super::*;

const LIMITS: Limits = Limits { file_bytes_max: 4_096, files_max: 4 };

fn event(action: &str) -> AuditEvent {
    AuditEvent { action: action.to_owned(), ..AuditEvent::default() }
}

fn append(log: &mut Log, count: usize) {
    for at in 0..count {
        log.append(vec![event(&format!("a{at}"))], Timestamp::from_millis(1_000)).unwrap();
    }
}

fn numbers(data: &Path, after: u64) -> Vec<u64> {
    let (mut cursor, mut numbers) = (Cursor::new(data, after), Vec::new());
    loop {
        let page = cursor.page(7).unwrap();
        if page.is_empty() {
            return numbers;
        }
        numbers.extend(page.iter().map(|event| event.number));
    }
}

fn problems(data: &Path) -> Vec<String> {
    check(data).unwrap().problems
}

fn last_file(data: &Path) -> PathBuf {
    let dir = folder::of(data);
    folder::file(&dir, *folder::files(&dir).unwrap().last().unwrap())
}

#[test]
fn events_are_numbered_in_order_over_restarts_and_writers() {
    let data = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (Log::new(data.path(), LIMITS), Log::new(data.path(), LIMITS));
    append(&mut one, 2);
    append(&mut two, 2);
    append(&mut one, 1);
    append(&mut Log::new(data.path(), LIMITS), 1);
    assert_eq!(numbers(data.path(), 0), [1, 2, 3, 4, 5, 6]);
    assert_eq!(numbers(data.path(), 4), [5, 6]);
    assert_eq!(numbers(data.path(), 6), [0_u64; 0]);
    let checked = check(data.path()).unwrap();
    assert_eq!((checked.lines, checked.numbers, checked.problems.len()), (6, Some((1, 6)), 0));
}

#[test]
fn files_follow_each_other_and_the_oldest_goes() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Log::new(data.path(), LIMITS);
    append(&mut log, 200);
    let files = folder::files(&folder::of(data.path())).unwrap();
    assert_eq!(files.len(), LIMITS.files_max);
    let found = numbers(data.path(), 0);
    assert_eq!((found[0], *found.last().unwrap()), (files[0], 200));
    assert!(found.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let bytes = fs::metadata(folder::file(&folder::of(data.path()), files[0])).unwrap().len();
    assert!(bytes <= LIMITS.file_bytes_max);
    assert_eq!(problems(data.path()), [""; 0]);
    append(&mut Log::new(data.path(), LIMITS), 1);
    assert_eq!((numbers(data.path(), 200), problems(data.path()).len()), (vec![201], 0));
}

#[test]
fn a_reader_goes_on_while_files_come_and_go() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Log::new(data.path(), LIMITS);
    append(&mut log, 10);
    let mut cursor = Cursor::new(data.path(), 0);
    assert_eq!(cursor.page(3).unwrap().last().unwrap().number, 3);
    append(&mut log, 5);
    assert_eq!(
        cursor.page(100).unwrap().iter().map(|e| e.number).collect::<Vec<_>>(),
        (4..=15).collect::<Vec<_>>()
    );
    assert!(cursor.page(100).unwrap().is_empty());
    append(&mut log, 200);
    let next = cursor.page(1_000).unwrap();
    assert_eq!(next.last().unwrap().number, 215);
    assert!(next[0].number > 16, "those between were let go");
}

#[test]
fn whatever_is_changed_taken_out_or_put_in_is_found() {
    let check = |change: fn(&mut Vec<String>), expected: &str| {
        let data = tempfile::tempdir().unwrap();
        append(&mut Log::new(data.path(), LIMITS), 5);
        let file = last_file(data.path());
        let text = fs::read_to_string(&file).unwrap();
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        change(&mut lines);
        fs::write(&file, lines.concat()).unwrap();
        let found = problems(data.path());
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:?}");
    };
    check(|lines| lines[1] = lines[1].replace("\"a1\"", "\"b1\""), "line 3: does not follow");
    check(|lines| drop(lines.remove(2)), "line 3: has the number 4");
    check(|lines| lines.swap(1, 2), "line 2: has the number 3");
    check(|lines| lines.insert(2, lines[1].clone()), "line 3: has the number 2");
    check(|lines| lines[0] = "{}\n".to_owned(), "line 1: is no event");
    check(|lines| drop(lines.remove(0)), "line 1: has the number 2");
    check(|lines| lines[4].truncate(20), "is not whole");
}

#[test]
fn a_file_that_is_missing_in_the_middle_is_found() {
    let data = tempfile::tempdir().unwrap();
    append(&mut Log::new(data.path(), LIMITS), 60);
    let dir = folder::of(data.path());
    let files = folder::files(&dir).unwrap();
    assert!(files.len() > 2);
    fs::remove_file(folder::file(&dir, files[1])).unwrap();
    assert!(problems(data.path())[0].contains("are missing"));
}

#[test]
fn half_a_line_of_a_killed_process_is_taken_off_and_the_chain_goes_on() {
    let data = tempfile::tempdir().unwrap();
    append(&mut Log::new(data.path(), LIMITS), 3);
    let file = last_file(data.path());
    let mut text = fs::read(&file).unwrap();
    text.extend_from_slice(b"{\"number\":4,\"ti");
    fs::write(&file, &text).unwrap();
    assert_eq!(numbers(data.path(), 0), [1, 2, 3]);
    append(&mut Log::new(data.path(), LIMITS), 1);
    assert_eq!((numbers(data.path(), 0), problems(data.path()).len()), (vec![1, 2, 3, 4], 0));
    // A file that was begun and holds nothing yet.
    fs::write(folder::file(&folder::of(data.path()), 5), "").unwrap();
    append(&mut Log::new(data.path(), LIMITS), 1);
    assert_eq!((numbers(data.path(), 0).len(), problems(data.path()).len()), (5, 0));
}
