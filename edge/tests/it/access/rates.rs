//! How much one caller may take: counted by who they are, never by what they say of themselves.

use http::StatusCode;
use serde_json::json;
use weft_proto::weft::{AccessPolicy, Allowance};

use super::{Guarded, ajar, closed};
use crate::world::hello;

#[tokio::test]
async fn a_principal_over_its_rate_is_told_when_to_come_again_on_every_binding() {
    let guarded = Guarded::new(closed()).await;
    let shown = ("authorization", "Bearer slow-token");
    for _ in 0..2 {
        assert_eq!(guarded.call(&[shown], "SendMessage", &hello("network state")).await.status, 200);
    }
    let reply = guarded.call(&[shown], "SendMessage", &hello("network state")).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].clone()),
        (StatusCode::TOO_MANY_REQUESTS, json!(-32055))
    );
    assert!((1..=30).contains(&reply.header("retry-after").parse::<u32>().unwrap()), "{reply:?}");
    let rest = http::Request::post("/rest/message:send").header("host", "localhost");
    let rest = super::with(rest, &[shown]).body(hello("network state").to_string().into()).unwrap();
    let reply = guarded.world.send(rest).await;
    assert_eq!(reply.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(reply.headers.contains_key("retry-after"));
    let wire = super::grpc("/lf.a2a.v1.A2AService/SendMessage", &[shown]);
    let answer = guarded.world.open(wire).await;
    let refused = tonic::Status::from_header_map(answer.headers()).unwrap();
    assert_eq!(refused.code(), tonic::Code::ResourceExhausted, "{refused:?}");
    assert!(weft_chassis::status::fault(&refused).retry_after_ms.is_some());
    assert!(answer.headers().contains_key("retry-after"));
    let figures = guarded.world.get("/metrics").await.text;
    assert!(figures.contains("weft_edge_limited_total{limit=\"messages_per_minute\"} 3\n"), "{figures}");
    assert!(!figures.contains("slow"), "no figure names a principal");
    // Reading goes on, and so do others.
    assert_eq!(guarded.call(&[shown], "GetTask", &json!({"id": "t1"})).await.status, 200);
    assert_eq!(guarded.call_as("ci-token", "SendMessage", &hello("network state")).await.status, 200);
}

#[tokio::test]
async fn a_header_that_anybody_can_make_up_makes_nobody_another() {
    let anonymous_allowance = Some(Allowance { messages_per_minute: 5, ..Allowance::default() });
    let guarded = Guarded::new(AccessPolicy { anonymous_allowance, ..ajar() }).await;
    let mut served = 0;
    for n in 0..200 {
        let (address, token) = (format!("192.0.2.{n}"), format!("a-token-never-seen-before-{n}"));
        let forged = [
            ("x-forwarded-for", address.as_str()),
            ("forwarded", &format!("for={address}")),
            ("x-real-ip", &address),
            ("task-access-token", &token),
        ];
        served +=
            u32::from(guarded.call(&forged, "SendMessage", &hello("network state")).await.status == 200);
    }
    // A slow run may earn one more in the meantime.
    assert!((5..=20).contains(&served), "{served}");
}

#[tokio::test]
async fn made_up_tokens_are_refused_by_the_thousand_and_leave_room_for_the_rest() {
    let guarded = Guarded::with(closed(), |settings| {
        settings.rate_per_second = 1;
        settings.rate_burst = 100;
    })
    .await;
    let mut asked = 0;
    for n in 0..500 {
        let reply = guarded.call_as(&format!("made-up-{n}"), "GetTask", &json!({"id": "t1"})).await;
        assert!(matches!(reply.status.as_u16(), 401 | 429), "{reply:?}");
        asked += usize::from(reply.status == StatusCode::UNAUTHORIZED);
    }
    assert_eq!(guarded.asked().len(), asked, "who is over the rate of its address is not looked at");
    assert!(asked < 200, "{asked}");
}

#[tokio::test]
async fn a_principal_has_as_many_streams_as_it_may() {
    let guarded = Guarded::new(closed()).await;
    let open = |token: &str| {
        let request = super::with(crate::world::post(), &[("authorization", &format!("Bearer {token}"))]);
        let body = crate::world::rpc("SubscribeToTask", &json!({"id": "t1"}));
        guarded.world.open(request.body(body.into()).unwrap())
    };
    let held = open("slow-token").await;
    assert_eq!(held.status(), StatusCode::OK);
    assert_eq!(open("slow-token").await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(open("ci-token").await.status(), StatusCode::OK);
    drop(held);
    assert_eq!(open("slow-token").await.status(), StatusCode::OK);
}
