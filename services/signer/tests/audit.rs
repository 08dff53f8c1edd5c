//! The record through its generated client, in process.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

use std::path::Path;
use std::time::Duration;

use tokio_stream::StreamExt as _;
use weft_chassis::{Env, Peer, peer, status};
use weft_core::Kind;
use weft_proto::weft::access_client::AccessClient;
use weft_proto::weft::audit_client::AuditClient;
use weft_proto::weft::audit_event::Outcome;
use weft_proto::weft::{AuditEvent, AuditRequest, AuthenticateRequest, RecordRequest};
use weft_signer::{Settings, Signer, audit};

fn open(data: &Path, env: &Env) -> (AuditClient<Peer>, AccessClient<Peer>) {
    let signer = Signer::open(&Settings::default(), data, env).unwrap();
    let peer = peer::local(signer.routes());
    (AuditClient::new(peer.clone()), AccessClient::new(peer))
}

fn event(action: &str, owner: &str) -> AuditEvent {
    AuditEvent {
        action: action.into(),
        owner: owner.into(),
        outcome: Outcome::Ok.into(),
        ..AuditEvent::default()
    }
}

async fn read(client: &AuditClient<Peer>, request: AuditRequest) -> Vec<AuditEvent> {
    let stream = client.clone().read(request).await.unwrap().into_inner();
    stream.map(|event| event.unwrap()).collect().await
}

#[tokio::test]
async fn what_was_answered_is_on_disk_numbered_and_found_by_its_owner() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let (mut client, _) = open(data.path(), &env);
    let events = vec![event("admit", "p:ci"), event("authorize", "p:ops")];
    client.record(RecordRequest { events }).await.unwrap();
    let found = read(&client, AuditRequest::default()).await;
    assert_eq!(
        found.iter().map(|e| (e.number, e.action.as_str())).collect::<Vec<_>>(),
        [(1, "admit"), (2, "authorize")]
    );
    assert!(found.iter().all(|event| event.time.is_some()));
    let ops = read(&client, AuditRequest { owner: "p:ops".into(), ..AuditRequest::default() }).await;
    assert_eq!(ops.len(), 1);
    assert!(read(&client, AuditRequest { after: 2, ..AuditRequest::default() }).await.is_empty());
    let checked = audit::check(data.path()).unwrap();
    assert_eq!((checked.lines, checked.problems.len()), (2, 0));
}

#[tokio::test]
async fn many_at_once_are_all_written_and_the_chain_holds() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let (client, _) = open(data.path(), &env);
    let one = |at: usize| {
        let mut client = client.clone();
        async move {
            client.record(RecordRequest { events: vec![event(&format!("a{at}"), "")] }).await.unwrap();
        }
    };
    futures::future::join_all((0..300).map(one)).await;
    assert_eq!(read(&client, AuditRequest::default()).await.len(), 300);
    assert_eq!(audit::check(data.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_follower_sees_what_was_and_what_comes_from_here_and_from_commands() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let (mut client, _) = open(data.path(), &env);
    client.record(RecordRequest { events: vec![event("one", "")] }).await.unwrap();
    let request = AuditRequest { follow: true, ..AuditRequest::default() };
    let mut stream = client.read(request).await.unwrap().into_inner();
    let mut next = async || stream.next().await.unwrap().unwrap().action;
    assert_eq!(next().await, "one");
    client.record(RecordRequest { events: vec![event("two", "")] }).await.unwrap();
    assert_eq!(next().await, "two");
    audit::note(data.path(), &Settings::default(), event("three", ""), &env).unwrap();
    assert_eq!(next().await, "three");
    assert!(env.drain(Duration::from_secs(30)).await);
    assert!(stream.next().await.is_none(), "it ends with the mesh");
}

#[tokio::test]
async fn a_flood_of_failures_is_two_events_and_no_credential_is_among_them() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let (client, access) = open(data.path(), &env);
    for at in 0..500 {
        let request = AuthenticateRequest {
            bearer: format!("CANARY-{at}"),
            peer: "192.0.2.7".into(),
            ..AuthenticateRequest::default()
        };
        assert!(access.clone().authenticate(request).await.is_err());
    }
    // Ends the minute that is under way, as the end of the mesh does.
    assert!(env.drain(Duration::from_secs(30)).await);
    let found = read(&client, AuditRequest::default()).await;
    let told = |event: &AuditEvent| (event.reason.clone(), event.peer.clone(), event.count, event.outcome());
    assert_eq!(
        found.iter().map(told).collect::<Vec<_>>(),
        [
            ("TOKEN_UNKNOWN".to_owned(), "192.0.2.7".to_owned(), 0, Outcome::Denied),
            ("TOKEN_UNKNOWN".to_owned(), "192.0.2.7".to_owned(), 499, Outcome::Denied),
        ]
    );
    for entry in std::fs::read_dir(data.path().join("audit")).unwrap() {
        assert!(!std::fs::read_to_string(entry.unwrap().path()).unwrap().contains("CANARY"));
    }
}

#[tokio::test]
async fn bad_events_name_their_field_and_a_damaged_record_says_so() {
    let (data, env) = (tempfile::tempdir().unwrap(), Env::system());
    let (mut client, _) = open(data.path(), &env);
    let fault = client.record(RecordRequest { events: vec![event("", "")] }).await.unwrap_err();
    assert_eq!(status::fault(&fault).violations[0].field, "events[0].action");
    let many = RecordRequest { events: vec![event("a", ""); 257] };
    assert_eq!(status::fault(&client.record(many).await.unwrap_err()).violations[0].field, "events");
    client.record(RecordRequest { events: vec![event("a", "")] }).await.unwrap();
    let file = std::fs::read_dir(data.path().join("audit")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some()).unwrap();
    std::fs::write(file, "nonsense\n").unwrap();
    let mut stream = client.read(AuditRequest::default()).await.unwrap().into_inner();
    let fault = status::fault(&stream.next().await.unwrap().unwrap_err());
    assert!(fault.kind == Kind::Internal && fault.message.contains("weft audit check"), "{fault}");
}
