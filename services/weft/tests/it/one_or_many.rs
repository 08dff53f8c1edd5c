//! One process or many: the same code gives the same answers, and meshes do not see one another.

use serde_json::{Value, json};
use weft_proto::a2a::{StreamResponse, TaskState};

use crate::client::{Client, artifacts, said, said_at_once, said_to, settled, state, state_of};
use crate::world::{Form, World};

/// Everything a client can do, and what it was answered; ids and times aside.
async fn played(client: &Client) -> Vec<Value> {
    let mut answers = Vec::new();
    let mut note = |name: &str, answer: Value| answers.push(json!({ name: plain(answer) }));

    let card = client.get("/.well-known/agent-card.json").await.unwrap();
    note("card", serde_json::from_str::<Value>(&card).unwrap()["skills"].clone());

    let echoed = client.send(&said("echo blocking"), &[("idempotency-key", "k1")]).await.unwrap();
    note("blocking", as_json(&echoed));
    let again = client.send(&said("echo blocking"), &[("idempotency-key", "k1")]).await.unwrap();
    assert_eq!(again, echoed, "the same key is the same task");
    let changed = client.send(&said("echo changed"), &[("idempotency-key", "k1")]).await.unwrap_err();
    note("conflict", changed.code().into());

    let streamed =
        client.stream("SendStreamingMessage", &said("job streamed"), &[]).await.unwrap().rest().await;
    let numbers: Vec<u64> = streamed.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "each event once and in order");
    note("streamed", streamed.iter().map(|(_, event)| as_json(event)).collect());

    let asked = client.send(&said("ask"), &[]).await.unwrap();
    note("asked", as_json(&asked));
    let answered = client.send(&said_to(&asked.id, "echo a name"), &[]).await.unwrap();
    assert_eq!(answered.id, asked.id);
    note("follow-up", as_json(&answered));
    note("too late", client.send(&said_to(&asked.id, "echo more"), &[]).await.unwrap_err().code().into());

    note("failed", as_json(&client.send(&said("fail"), &[]).await.unwrap()));
    note("unmatched", as_json(&client.send(&unmatched(), &[]).await.unwrap().status));

    let slow = client.send(&said_at_once("slow"), &[]).await.unwrap();
    client.until_state(&slow.id, TaskState::Working).await;
    let mut reader = client.subscribe(&slow.id, None).await.unwrap();
    let (_, first) = reader.next().await.unwrap().unwrap();
    assert!(matches!(state_of(&first), Some(TaskState::Working)), "a snapshot first: {first:?}");
    let canceled = client.cancel(&slow.id).await.unwrap();
    note("canceled", json!({ "state": state(&canceled).as_str_name() }));
    let last = reader.rest().await.pop().unwrap().1;
    note("heard of it", json!({ "state": state_of(&last).unwrap().as_str_name() }));
    note("not cancelable", client.cancel(&echoed.id).await.unwrap_err().code().into());
    note("unknown", client.task("0190b5a0-0000-7000-8000-000000000000").await.unwrap_err().code().into());

    note("listed", listed(client).await);
    answers
}

/// A message that names no capability and matches none.
fn unmatched() -> Value {
    let mut params = said("zzz");
    params["message"].as_object_mut().unwrap().remove("metadata");
    params
}

/// All pages: the states, newest first, without doubles.
async fn listed(client: &Client) -> Value {
    let (mut token, mut ids, mut states) = (String::new(), Vec::new(), Vec::new());
    loop {
        let page = client.list(&json!({ "pageSize": 2, "pageToken": token })).await.unwrap();
        assert!(page.tasks.len() <= 2);
        for task in page.tasks {
            assert!(!ids.contains(&task.id), "listed twice");
            states.push(state(&task).as_str_name());
            ids.push(task.id);
        }
        token = page.next_page_token;
        if token.is_empty() {
            return json!({ "total": page.total_size, "states": states });
        }
    }
}

fn as_json<T: serde::Serialize>(message: &T) -> Value {
    serde_json::to_value(message).unwrap()
}

/// Without what differs between any two runs.
fn plain(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let varies =
                    matches!(name.as_str(), "id" | "taskId" | "contextId" | "timestamp" | "messageId");
                *inner = if varies && inner.is_string() { "*".into() } else { plain(inner.take()) };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = plain(item.take())),
        _ => {}
    }
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_and_one_role_a_process_give_the_same_answers() {
    let mut played_by = Vec::new();
    for form in Form::BOTH {
        let data = tempfile::tempdir().unwrap();
        let world = World::start(form, data.path()).await;
        played_by.push(played(&world.client).await);
        assert!(world.stop().await, "{form:?} did not stop in time");
    }
    let [together, apart] = played_by.try_into().unwrap();
    for (one, other) in together.iter().zip(&apart) {
        assert_eq!(one, other);
    }
    assert_eq!(together.len(), apart.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_meshes_in_one_process_do_not_see_each_others_tasks() {
    let (data, other_data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, other) =
        tokio::join!(World::start(Form::Together, data.path()), World::start(Form::Apart, other_data.path()));
    let key = [("idempotency-key", "the-same")];
    let (said_here, said_there) = (said("job here"), said("job there"));
    let (here, there) = tokio::join!(one.client.send(&said_here, &key), other.client.send(&said_there, &key));
    let (here, there) = (here.unwrap(), there.unwrap());
    assert_eq!(artifacts(&here), "chunk 1 of job here\nchunk 2 of job here\nchunk 3 of job here\n");
    assert_eq!(artifacts(&there), "chunk 1 of job there\nchunk 2 of job there\nchunk 3 of job there\n");
    for (client, own, foreign) in [(&one.client, &here, &there), (&other.client, &there, &here)] {
        assert_eq!(client.list(&json!({})).await.unwrap().total_size, 1);
        assert_eq!(client.task(&own.id).await.unwrap().id, own.id);
        assert_eq!(client.task(&foreign.id).await.unwrap_err().code(), -32001);
    }
    let (a, b) = tokio::join!(one.stop(), other.stop());
    assert!(a && b);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_reader_gets_a_snapshot_and_a_returning_one_what_it_missed() {
    for form in Form::BOTH {
        let data = tempfile::tempdir().unwrap();
        let world = World::start(form, data.path()).await;
        let task = world.client.send(&said_at_once("job read"), &[]).await.unwrap();
        let late = world.client.subscribe(&task.id, None).await.unwrap().rest().await;
        let returning = world.client.subscribe(&task.id, Some(1)).await.unwrap().rest().await;
        let whole: Vec<&StreamResponse> = returning.iter().map(|(_, event)| event).collect();
        assert_eq!(returning.first().unwrap().0, 2);
        assert!(settled(state_of(whole.last().unwrap()).unwrap()));
        for event in late.iter().skip(1) {
            assert!(returning.contains(event), "{form:?}: {event:?} was told to one reader only");
        }
        assert_eq!(late.last(), returning.last());
        world.stop().await;
    }
}
