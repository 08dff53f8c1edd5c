//! ListTasks as its callers see it.

use weft_core::Kind;
use weft_proto::a2a::{ListTasksRequest, ListTasksResponse, TaskState};
use weft_proto::weft::{Follow, ListRequest, SubmitRequest};
use weft_tasks::Settings;

use crate::world::*;

async fn list(
    world: &World,
    owner: &str,
    change: impl FnOnce(&mut ListTasksRequest),
) -> Result<ListTasksResponse, tonic::Status> {
    let mut request = ListTasksRequest::default();
    change(&mut request);
    let request = ListRequest { owner: owner.into(), request: Some(request) };
    world.client.clone().list(request).await.map(tonic::Response::into_inner)
}

async fn filled(settings: &Settings, tasks: usize) -> World {
    let world = simulated(settings).await;
    let worker = world.worker(9).await;
    tokio::spawn(worker.complete_all());
    let sent = (0..tasks).map(|n| world.submitted(sends(says(&format!("m{n}")), Follow::Result)));
    for task in futures::future::join_all(sent).await {
        assert_eq!(state(&task.unwrap()), TaskState::Completed);
    }
    world
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_has_all_its_fields() {
    let world = simulated(&settings()).await;
    let page = list(&world, "local", |_| ()).await.unwrap();
    assert_eq!(
        (page.tasks.len(), page.next_page_token.as_str(), page.page_size, page.total_size),
        (0, "", 50, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn pages_of_seven_hold_each_of_thirty_tasks_once() {
    let world = filled(&settings(), 30).await;
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(&world, "local", |r| (r.page_size, r.page_token) = (Some(7), token)).await.unwrap();
        assert_eq!((page.page_size, page.total_size), (7, 30));
        seen.extend(
            page.tasks.into_iter().map(|task| (std::cmp::Reverse(task.status.unwrap().timestamp), task.id)),
        );
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert!(seen.is_sorted());
    seen.dedup();
    assert_eq!(seen.len(), 30);
}

#[tokio::test(start_paused = true)]
async fn artifacts_are_left_out_unless_asked_for_and_history_is_cut() {
    let world = filled(&settings(), 2).await;
    let page = list(&world, "local", |_| ()).await.unwrap();
    assert!(page.tasks.iter().all(|task| task.artifacts.is_empty() && task.history.len() == 1));
    let page = list(&world, "local", |r| (r.include_artifacts, r.history_length) = (Some(true), Some(0)))
        .await
        .unwrap();
    assert!(page.tasks.iter().all(|task| task.artifacts.len() == 1 && task.history.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn bad_sizes_and_foreign_tokens_are_refused_by_name() {
    let world = filled(&settings(), 3).await;
    for size in [0, -1, 101] {
        let refused = list(&world, "local", |r| r.page_size = Some(size)).await.unwrap_err();
        assert_eq!((kind(&refused), field(&refused).as_str()), (Kind::Invalid, "pageSize"));
    }
    let token = list(&world, "local", |r| r.page_size = Some(1)).await.unwrap().next_page_token;
    assert!(list(&world, "local", |r| r.page_token = token.clone()).await.is_ok());
    let refused = [
        list(&world, "local", |r| r.page_token = "garbage".into()).await,
        list(&world, "other", |r| r.page_token = token.clone()).await,
        list(&world, "local", |r| (r.page_token, r.context_id) = (token.clone(), "c".into())).await,
        list(&world, "local", |r| r.page_token = format!("{token}x")).await,
    ];
    for refused in refused {
        assert_eq!(field(&refused.unwrap_err()), "pageToken");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_holds_its_owners_tasks_only_and_filters_them() {
    let world = filled(&settings(), 4).await;
    let strange =
        SubmitRequest { owner: "other".into(), start: Some(parked()), ..sends(says("x"), Follow::None) };
    let theirs = world.submitted(strange).await.unwrap();
    let page = list(&world, "other", |_| ()).await.unwrap();
    assert_eq!((page.tasks[0].id.as_str(), page.total_size), (theirs.id.as_str(), 1));
    assert_eq!(
        list(&world, "local", |r| r.context_id = theirs.context_id.clone()).await.unwrap().total_size,
        0
    );
    assert_eq!(list(&world, "local", |r| r.set_status(TaskState::Completed)).await.unwrap().total_size, 4);
    assert_eq!(list(&world, "local", |r| r.set_status(TaskState::Working)).await.unwrap().total_size, 0);
}

#[tokio::test(start_paused = true)]
async fn a_time_filters_with_what_began_at_it_and_the_total_follows() {
    let world = simulated(&settings()).await;
    let mut times = Vec::new();
    for n in 0..4 {
        let request = SubmitRequest { start: Some(parked()), ..sends(says(&format!("m{n}")), Follow::None) };
        times.push(world.submitted(request).await.unwrap().status.unwrap().timestamp);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    for (n, time) in times.into_iter().enumerate() {
        let page = list(&world, "local", |r| (r.status_timestamp_after, r.page_size) = (time, Some(1)));
        let page = page.await.unwrap();
        assert_eq!((page.tasks.len(), page.total_size as usize), (1, 4 - n));
        assert_eq!(page.next_page_token.is_empty(), n == 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_would_be_too_large_ends_early_and_goes_on() {
    let world = simulated(&Settings { list_bytes_max: 65_536, cache_tasks: 1, ..settings() }).await;
    let mut worker = world.worker(9).await;
    for n in 0..5 {
        world.submitted(sends(says(&format!("m{n}")), Follow::None)).await.unwrap();
        let item = worker.item().await;
        worker
            .append(&item, vec![chunk("a", &"x".repeat(30_000), false), status(TaskState::Completed)])
            .await;
    }
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(&world, "local", |r| r.page_token = token).await.unwrap();
        pages.push(page.tasks.len());
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(pages, [2, 2, 1]);
}
