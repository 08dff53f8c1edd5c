#![allow(clippy::disallowed_methods, reason = "tests spawn what ends with them")]

use super::*;
use std::time::Duration;

fn key(n: u8) -> Key {
    Key { task: TaskId::new([n; 16]), id: "hook".into() }
}

fn put(line: &Line, n: u8, host: &str) {
    line.put(&key(n), &host.into(), Instant::now());
}

fn taken(line: &Line) -> Vec<Turn> {
    std::iter::from_fn(|| line.begin().ok()).collect()
}

fn names(turns: &[Turn]) -> Vec<u8> {
    turns.iter().map(|turn| turn.key.task.bytes()[0]).collect()
}

#[tokio::test(start_paused = true)]
async fn hosts_take_turns_and_none_takes_all_places() {
    let line = Line::new(4, 2);
    (1..=5).for_each(|n| put(&line, n, "slow"));
    (6..=7).for_each(|n| put(&line, n, "fast"));
    let mut turns = taken(&line);
    assert_eq!(names(&turns), [1, 6, 2, 7]);
    // The places of `fast` are free again, those of `slow` are not.
    turns.retain(|turn| turn.key.task.bytes()[0] < 6);
    put(&line, 8, "other");
    assert_eq!(names(&taken(&line)), [8]);
    turns.clear();
    assert_eq!(names(&taken(&line)), [3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_has_one_turn_at_a_time_and_another_when_there_was_news() {
    let line = Line::new(4, 4);
    put(&line, 1, "a");
    put(&line, 1, "a");
    let mut turns = taken(&line);
    assert_eq!(names(&turns), [1]);
    put(&line, 1, "a");
    assert!(taken(&line).is_empty());
    turns.pop().unwrap().end(Next::Rest);
    turns = taken(&line);
    assert_eq!(names(&turns), [1]);
    turns.pop().unwrap().end(Next::Rest);
    assert!(taken(&line).is_empty());
    let state = line.lock();
    assert_eq!((state.entries.len(), state.hosts.len(), state.round.len()), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_failed_one_waits_and_news_do_not_hasten_it() {
    let line = Line::new(4, 4);
    put(&line, 1, "a");
    let start = Instant::now();
    line.next().await.end(Next::At(start + Duration::from_secs(5)));
    put(&line, 1, "a");
    assert!(taken(&line).is_empty());
    let turn = line.next().await;
    assert_eq!(start.elapsed().as_secs(), 5);
    turn.end(Next::Again);
    assert_eq!(names(&taken(&line)), [1]);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_time_is_kept_also_when_the_line_waits_for_a_later_one() {
    let line = Line::new(4, 4);
    let start = Instant::now();
    line.put(&key(1), &"a".into(), start + Duration::from_secs(60));
    let waiting = line.clone();
    let next = tokio::spawn(async move { waiting.next().await.key.task.bytes()[0] });
    tokio::task::yield_now().await;
    line.put(&key(2), &"a".into(), start + Duration::from_secs(1));
    assert_eq!(next.await.unwrap(), 2);
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_held_one_is_stopped_and_left_alone() {
    let line = Line::new(1, 1);
    put(&line, 1, "a");
    let turn = line.next().await;
    let stop = turn.stop.clone();
    let running = tokio::spawn(async move {
        turn.stop.cancelled().await;
        turn.end(Next::At(Instant::now()));
    });
    let hold = line.hold(&key(1)).await;
    assert!(stop.is_cancelled() && running.is_finished());
    put(&line, 1, "a");
    assert!(taken(&line).is_empty());
    drop(hold);
    assert_eq!(line.len(), 0);
    put(&line, 1, "b");
    assert_eq!(names(&taken(&line)), [1]);
    // One that only waits is taken out too.
    put(&line, 2, "a");
    let hold = line.hold(&key(2)).await;
    assert!(taken(&line).is_empty());
    drop(hold);
    assert_eq!(line.lock().hosts.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_in_a_panic_gives_its_place_back() {
    let line = Line::new(1, 1);
    put(&line, 1, "a");
    put(&line, 2, "a");
    drop(line.next().await);
    assert_eq!(names(&taken(&line)), [2]);
}
