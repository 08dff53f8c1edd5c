use super::*;

const WAITING: Waiting = Waiting { steps: 3, bytes: 1_000_000 };

fn item(task: &str, lease: u64) -> WorkItem {
    WorkItem { task_id: task.into(), lease, lease_ms: 3_000, attempt: 1, ..WorkItem::default() }
}

fn open(book: &mut Book, task: &str, lease: u64, now: Instant) -> (Key, Arc<Signals>) {
    book.open(&item(task, lease), None, 0, now).unwrap()
}

fn connected() -> (Book, Instant) {
    let (mut book, now) = (Book::new(WAITING), Instant::now());
    assert!(book.connected(now).is_empty());
    (book, now)
}

fn steps(n: usize) -> Vec<Progress> {
    vec![outcome::working(); n]
}

fn yes(request: &AppendRequest) -> AppendAnswer {
    AppendAnswer { number: request.number, accepted: true, ..AppendAnswer::default() }
}

fn no(request: &AppendRequest, refusal: Refusal) -> AppendAnswer {
    AppendAnswer { number: request.number, refusal: refusal.into(), ..AppendAnswer::default() }
}

#[tokio::test]
async fn one_request_of_a_lease_is_unanswered_and_the_rest_goes_into_the_next() {
    let (mut book, now) = connected();
    let (key, _) = open(&mut book, "t1", 1, now);
    let first = book.push(key, steps(1), 10, false, now).unwrap();
    assert!(book.push(key, steps(1), 10, false, now).is_none());
    assert!(book.push(key, steps(1), 10, true, now).is_none());
    let second = book.answer(&yes(&first), now).unwrap();
    assert_eq!((second.number, second.progress.len()), (first.number + 1, 2));
    assert!(book.answer(&yes(&second), now).is_none());
    assert_eq!(book.len(), 0);
}

#[tokio::test]
async fn after_a_break_the_unanswered_go_out_again_as_they_were_and_what_waited_after_them() {
    let (mut book, now) = connected();
    let (first, _) = open(&mut book, "t1", 1, now);
    let (second, _) = open(&mut book, "t2", 1, now);
    let unanswered = book.push(first, steps(1), 10, true, now).unwrap();
    book.disconnected();
    assert!(book.push(second, steps(2), 10, false, now).is_none());
    let mut again = book.connected(now);
    again.sort_by_key(|request| request.number);
    assert_eq!(again[0], unanswered);
    assert_eq!((again[1].task_id.as_str(), again[1].progress.len()), ("t2", 2));
    assert!(again[1].number > unanswered.number);
}

#[tokio::test]
async fn an_answer_to_nothing_changes_nothing() {
    let (mut book, now) = connected();
    let (key, signals) = open(&mut book, "t1", 1, now);
    let request = book.push(key, steps(1), 10, false, now).unwrap();
    let stray = AppendRequest { number: 999, ..AppendRequest::default() };
    assert!(book.answer(&no(&stray, Refusal::StaleLease), now).is_none());
    assert!(book.answer(&yes(&request), now).is_none());
    assert!(book.answer(&no(&request, Refusal::StaleLease), now).is_none(), "answered already");
    assert!(!signals.stop.is_cancelled());
}

#[tokio::test]
async fn what_the_store_cannot_take_now_waits_longer_each_time() {
    let (mut book, now) = connected();
    let (key, _) = open(&mut book, "t1", 1, now);
    let request = book.push(key, steps(1), 10, false, now).unwrap();
    let mut at = now;
    for tries in 0..3 {
        assert!(book.answer(&no(&request, Refusal::Unavailable), at).is_none());
        assert!(book.due(at + retry_pause(tries) - Duration::from_millis(1)).is_empty());
        at += retry_pause(tries);
        assert_eq!(book.due(at), std::slice::from_ref(&request));
        assert!(book.due(at).is_empty(), "sent once");
    }
    assert!(retry_pause(2) > retry_pause(0) && retry_pause(60) == RETRY.1);
}

#[tokio::test]
async fn a_run_that_is_gone_lets_its_lease_run_out_unless_it_had_ended() {
    let (mut book, now) = connected();
    let (gone, _) = open(&mut book, "t1", 1, now);
    let (ended, _) = open(&mut book, "t2", 1, now);
    book.push(ended, steps(1), 10, true, now);
    book.abandon(gone);
    book.abandon(ended);
    assert_eq!(book.len(), 1, "the end that is not answered yet is kept");
    assert!(book.due(now + Duration::from_secs(2)).is_empty(), "no heartbeat for a run that is gone");
}

#[tokio::test]
async fn the_store_stops_exactly_the_lease_it_names() {
    let (mut book, now) = connected();
    let (_, signals) = open(&mut book, "t1", 2, now);
    book.stop_task("t1", 1);
    assert!(!signals.stop.is_cancelled());
    book.stop_task("t1", 2);
    assert!(signals.stop.is_cancelled() && book.len() == 0);
    assert!(signals.has_task_ended(), "its work is wanted by nobody any more");
}

#[tokio::test]
async fn a_run_is_full_until_a_request_took_its_steps() {
    let (mut book, now) = connected();
    let (key, _) = open(&mut book, "t1", 1, now);
    let request = book.push(key, steps(5), 10, false, now).unwrap();
    assert!(!book.full(key));
    book.push(key, steps(3), 10, false, now);
    assert!(book.full(key));
    book.answer(&yes(&request), now);
    assert!(!book.full(key));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_else_has_is_no_end_of_its_task() {
    for (refusal, ended) in
        [(Refusal::StaleLease, false), (Refusal::Terminal, true), (Refusal::Invalid, true)]
    {
        let (mut book, now) = connected();
        let (key, signals) = open(&mut book, "t1", 1, now);
        let request = book.push(key, steps(1), 1, false, now).unwrap();
        book.answer(&no(&request, refusal), now);
        assert!(signals.stop.is_cancelled());
        assert_eq!(signals.has_task_ended(), ended, "{refusal:?}");
    }
    let (mut book, now) = connected();
    let (_, signals) = open(&mut book, "t1", 1, now);
    book.stop_all();
    assert!(signals.stop.is_cancelled() && !signals.has_task_ended(), "it is taken up again");
}
