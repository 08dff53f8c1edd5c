//! Cards, and what they are trusted with.

use serde_json::{Value, json};
use weft_client::{Binding, Call, Credentials, Options, Origins, Why};
use weft_core::Kind;

use crate::world::{Fake, Seen, answer, card, client, json_answer, result, task};

fn v1() -> Vec<(String, String)> {
    vec![("JSONRPC".into(), "1.0".into())]
}

#[tokio::test]
async fn an_unchanged_card_is_not_sent_again_and_keeps_fields_nobody_knows() {
    let fake = Fake::raw(|seen, _, address| {
        if seen.headers.get("if-none-match").is_some_and(|tag| tag == "\"v1\"") {
            return answer(304, "application/json", "");
        }
        let mut body = card(address, &v1());
        body["futureField"] = json!({ "x": 1.50 });
        let mut sent = json_answer(200, &body);
        sent.headers_mut().insert("etag", "\"v1\"".parse().unwrap());
        sent
    })
    .await;
    let client = client(Options::default());
    let first = client.card(&fake.url()).await.unwrap();
    let second = client.card(&format!("{}/", fake.url())).await.unwrap();
    assert_eq!(first.raw["futureField"]["x"], Value::from(1.5));
    assert_eq!((first.raw.clone(), fake.all().len()), (second.raw.clone(), 2));
    assert!(fake.all()[1].headers.contains_key("if-none-match"));
}

#[tokio::test]
async fn the_older_place_is_looked_at_when_the_new_one_is_empty() {
    let fake = Fake::raw(|seen, _, address| match seen.path.as_str() {
        "/agents/x/.well-known/agent.json" => json_answer(200, &card(address, &v1())),
        _ => answer(404, "text/plain", "no"),
    })
    .await;
    let client = client(Options::default());
    let found = client.card(&format!("{}/agents/x", fake.url())).await.unwrap();
    assert_eq!(found.card.name, "fake");
    let error = client.card(&format!("{}/agents/y", fake.url())).await.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    let exact = client.card(&format!("{}/agents/x/.well-known/agent.json", fake.url())).await.unwrap();
    assert_eq!(exact.card.name, "fake");
}

#[tokio::test]
async fn what_is_no_card_or_too_large_or_elsewhere_is_refused() {
    let other = Fake::start(&[], |_, _| answer(404, "text/plain", "")).await;
    let to = format!("{}/.well-known/agent-card.json", other.url());
    let fake = Fake::raw(move |seen, _, address| match seen.path.split('/').nth(1).unwrap() {
        "huge" => answer(200, "application/json", format!("{{\"name\":\"{}\"}}", "x".repeat(20_000))),
        "html" => answer(200, "text/html", "<html>"),
        "away" | "near" => {
            let mut moved = answer(302, "text/plain", "");
            let to = if seen.path.contains("near") { "/card.json" } else { to.as_str() };
            moved.headers_mut().insert("location", to.parse().unwrap());
            moved
        }
        "broken" => answer(500, "text/plain", "oops"),
        _ => json_answer(200, &card(address, &v1())),
    })
    .await;
    let client = client(Options::default());
    let mut found = Vec::new();
    for place in ["huge", "html", "away", "broken", "near"] {
        found.push(match client.card(&format!("{}/{place}", fake.url())).await {
            Err(error) => match error.why {
                Why::TooLarge { bytes_max: 10_000, .. } => "large",
                Why::Malformed(_) => "malformed",
                Why::Redirected { status: 302, .. } => "redirected",
                Why::Refused(_) => "refused",
                other => panic!("{place}: {other:?}"),
            },
            Ok(_) => "found",
        });
    }
    assert_eq!(found, ["large", "malformed", "redirected", "refused", "found"]);
    assert!(other.all().is_empty());
    for url in ["ftp://h/", "nowhere", "http://"] {
        assert!(matches!(client.card(url).await.unwrap_err().why, Why::Unusable(_)), "{url}");
    }
}

/// An agent whose card names an interface of another one first.
async fn two_origins(own_too: bool) -> (Fake, Fake) {
    let other = Fake::raw(|_, _, _| result(&task("WORKING"))).await;
    let foreign = other.address;
    let fake = Fake::raw(move |seen: &Seen, _, address| {
        if !seen.path.starts_with("/.well-known") {
            return result(&task("WORKING"));
        }
        let mut body = card(foreign, &v1());
        if own_too {
            let own = card(address, &[("HTTP+JSON".to_owned(), "1.0".to_owned())]);
            let own = own["supportedInterfaces"][0].clone();
            body["supportedInterfaces"].as_array_mut().unwrap().push(own);
        }
        json_answer(200, &body)
    })
    .await;
    (fake, other)
}

#[tokio::test]
async fn credentials_do_not_go_to_another_origin_because_a_card_says_so() {
    let get = || weft_proto::a2a::GetTaskRequest { id: "t1".into(), ..Default::default() };
    let secret = || Some(Credentials::bearer("s3cret").unwrap());
    let (fake, other) = two_origins(false).await;
    let strict = client(Options { credentials: secret(), ..Options::default() });
    let error = strict.agent(&fake.url(), &[]).await.map(|_| ()).unwrap_err();
    assert!(
        matches!(&error.why, Why::ForeignOrigin { interface, .. } if *interface == other.url()),
        "{error}"
    );

    let allowed = Options {
        credentials: secret(),
        origins: Origins::default().allow(&other.url()).unwrap(),
        ..Options::default()
    };
    client(allowed).agent(&fake.url(), &[]).await.unwrap().get_task(get(), &Call::default()).await.unwrap();
    assert_eq!(other.all()[0].headers["authorization"], "Bearer s3cret");

    // Without credentials the agent may be anywhere; a token for a task is one too.
    let open = client(Options::default()).agent(&fake.url(), &[]).await.unwrap();
    open.get_task(get(), &Call::default()).await.unwrap();
    assert!(!other.all()[1].headers.contains_key("authorization"));
    let call = Call { access_token: Some("t".into()), ..Call::default() };
    let error = open.get_task(get(), &call).await.unwrap_err();
    assert!(matches!(error.why, Why::ForeignOrigin { .. }));
    assert_eq!(other.all().len(), 2);

    let (fake, other) = two_origins(true).await;
    let agent = client(Options { credentials: secret(), ..Options::default() })
        .agent(&fake.url(), &[])
        .await
        .unwrap();
    assert_eq!(agent.interface().binding, Binding::Rest, "the interface at home is taken");
    assert!(other.all().is_empty());
}

#[tokio::test]
async fn a_card_without_an_interface_for_us_says_what_it_has() {
    let fake =
        Fake::start(&[("SOAP", "1.0"), ("JSONRPC", "2.0")], |_, _| answer(404, "text/plain", "")).await;
    let error =
        client(Options::default()).agent(&fake.url(), &[Binding::Grpc]).await.map(|_| ()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("GRPC") && text.contains("SOAP 1.0, JSONRPC 2.0"), "{text}");
}
