//! Files that are too large to be written into an answer: a link in their place, the bytes behind it.

use axum::body::Body;
use http::StatusCode;
use serde_json::json;
use weft_proto::a2a::part::Content;
use weft_proto::a2a::stream_response::Payload;
use weft_proto::a2a::{Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState};
use weft_proto::weft::TaskEvent;

use crate::store::{ended, lock, snapshot, task, update};
use crate::world::{World, get, hello, rpc};

fn file() -> Part {
    Part {
        content: Some(Content::Raw((0..=255).collect())),
        filename: "bérich t.bin".into(),
        media_type: "application/x-sample".into(),
        ..Part::default()
    }
}

fn holding() -> Task {
    let artifact = Artifact { artifact_id: "a".into(), parts: vec![file()], ..Artifact::default() };
    Task { artifacts: vec![artifact], ..task(TaskState::Completed) }
}

async fn world() -> World {
    let world = World::with(|settings| settings.inline_bytes_max = 100).await;
    *lock(&world.script.task) = Some(holding());
    world
}

fn path(url: &str) -> &str {
    url.strip_prefix("http://127.0.0.1:8420").unwrap()
}

#[tokio::test]
async fn a_large_file_is_a_link_on_every_answer_and_its_bytes_lie_behind_it() {
    let world = world().await;
    let answer = world.call("GetTask", json!({"id": "t1"})).await;
    let part = answer["result"]["artifacts"][0]["parts"][0].clone();
    assert_eq!(
        (&part["filename"], &part["mediaType"]),
        (&json!("bérich t.bin"), &json!("application/x-sample"))
    );
    assert!(part.get("raw").is_none());
    let url = part["url"].as_str().unwrap();
    let update = TaskArtifactUpdateEvent {
        task_id: "t1".into(),
        artifact: holding().artifacts.pop(),
        ..TaskArtifactUpdateEvent::default()
    };
    let chunk = StreamResponse { payload: Some(Payload::ArtifactUpdate(update)) };
    let events = [
        snapshot(1, TaskState::Working),
        Ok(TaskEvent { seq: 2, body: Some(chunk) }),
        self::update(3, TaskState::Completed),
    ];
    *lock(&world.script.submit) = Some(Ok(ended(events)));
    let streamed = world.post(rpc("SendStreamingMessage", &hello("network state"))).await;
    assert!(streamed.text.contains(url), "the same link in the stream: {}", streamed.text);

    let reply = world.open(get(path(url)).body(Body::empty()).unwrap()).await;
    assert_eq!(reply.status(), StatusCode::OK);
    let headers = reply.headers().clone();
    assert_eq!(headers["content-type"], "application/x-sample");
    assert_eq!(headers["content-disposition"], "attachment; filename*=UTF-8''b%C3%A9rich%20t.bin");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let bytes = http_body_util::BodyExt::collect(reply.into_body()).await.unwrap().to_bytes();
    assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
}

#[tokio::test]
async fn a_part_of_a_file_is_served_by_range() {
    let world = world().await;
    let answer = world.call("GetTask", json!({"id": "t1"})).await;
    let url = answer["result"]["artifacts"][0]["parts"][0]["url"].as_str().unwrap().to_owned();
    for (range, status, content_range, length) in [
        ("bytes=0-9", 206, "bytes 0-9/256", 10),
        ("bytes=250-", 206, "bytes 250-255/256", 6),
        ("bytes=-6", 206, "bytes 250-255/256", 6),
        ("bytes=200-999", 206, "bytes 200-255/256", 56),
        ("bytes=256-", 416, "bytes */256", 0),
        ("bytes=0-1,4-5", 200, "", 256),
        ("lines=0-1", 200, "", 256),
        ("bytes=x", 200, "", 256),
    ] {
        let request = get(path(&url)).header("range", range).body(Body::empty()).unwrap();
        let reply = world.open(request).await;
        assert_eq!(reply.status(), status, "{range}");
        let shown = reply.headers().get("content-range").map_or("", |v| v.to_str().unwrap()).to_owned();
        assert_eq!(shown, content_range, "{range}");
        let bytes = http_body_util::BodyExt::collect(reply.into_body()).await.unwrap().to_bytes();
        assert_eq!(bytes.len(), length, "{range}");
    }
    let tag = url.rsplit('/').next().unwrap();
    let known = get(path(&url)).header("if-none-match", format!("\"{tag}\"")).body(Body::empty()).unwrap();
    assert_eq!(world.open(known).await.status(), StatusCode::NOT_MODIFIED);
    let stale = get(path(&url)).header("range", "bytes=0-1").header("if-range", "\"other\"");
    assert_eq!(world.open(stale.body(Body::empty()).unwrap()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_the_owner_is_asked_for() {
    let world = world().await;
    assert_eq!(world.get("/files/t1/00").await.status, StatusCode::NOT_FOUND);
    assert_eq!(world.get("/agents/crm/files/t1/00").await.status, StatusCode::NOT_FOUND);
    let owners: Vec<_> = lock(&world.script.got).iter().map(|asked| asked.owner.clone()).collect();
    assert_eq!(owners, ["local", "crm/local"]);
}
