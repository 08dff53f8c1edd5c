//! Tokens of an identity provider.

use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};
use weft_chassis::Env;
use weft_core::Kind;
use weft_proto::weft::principal::Method;

use crate::issuer::{Answer, Issuer, Signing, b64};
use crate::world::World;

/// The time that a provider is left in peace.
const COOLDOWN: Duration = Duration::from_secs(10);

/// Lets time pass without waiting for it. Nothing is on its way meanwhile.
async fn later(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn with(mut claims: Value, name: &str, value: &Value) -> Value {
    if value.is_null() {
        claims.as_object_mut().unwrap().remove(name);
    } else {
        claims[name] = value.clone();
    }
    claims
}

#[tokio::test]
async fn a_good_token_of_each_kind_names_its_subject_and_its_scopes() {
    let keys = [Signing::rs256("r"), Signing::es256("e"), Signing::eddsa("d")];
    let issuer = Issuer::start(&keys.each_ref()).await;
    let world = World::new(&issuer.access());
    for key in &keys {
        let answer = world.bearer(&key.token(&issuer.claims())).await.unwrap();
        let principal = answer.principal.unwrap();
        assert_eq!((principal.owner.as_str(), principal.name.as_str()), ("oidc:corp:alice", "alice"));
        assert_eq!(principal.method(), Method::Oidc);
        assert_eq!((principal.scopes, principal.capabilities), (vec!["a2a:read".into()], vec!["*".into()]));
        assert_eq!((answer.keep_ms, principal.peer), (60_000, false));
    }
    assert_eq!(issuer.asked(), 1, "one fetch is enough for all of them");
}

#[tokio::test]
async fn an_answer_is_not_kept_for_longer_than_its_token_lives() {
    let key = Signing::es256("e");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    let now = Env::system().now().seconds;
    let soon = with(issuer.claims(), "exp", &json!(now + 20));
    let answer = world.bearer(&key.token(&soon)).await.unwrap();
    assert!((1..=20_000).contains(&answer.keep_ms), "{}", answer.keep_ms);
    let within_leeway = with(issuer.claims(), "exp", &json!(now - 5));
    assert_eq!(world.bearer(&key.token(&within_leeway)).await.unwrap().keep_ms, 0);
}

#[tokio::test]
async fn a_token_that_is_not_for_us_now_is_refused_without_asking_the_provider() {
    let key = Signing::es256("e");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    let now = Env::system().now().seconds;
    for (claim, value, code) in [
        ("exp", json!(now - 61), "TOKEN_EXPIRED"),
        ("exp", Value::Null, "TOKEN_EXPIRED"),
        ("nbf", json!(now + 120), "TOKEN_NOT_YET"),
        ("aud", json!("other"), "TOKEN_AUDIENCE"),
        ("aud", json!(["other", "weft2"]), "TOKEN_AUDIENCE"),
        ("aud", Value::Null, "TOKEN_AUDIENCE"),
        ("iss", json!("https://elsewhere.example"), "TOKEN_ISSUER"),
        ("iss", json!(format!("{}/", issuer.url)), "TOKEN_ISSUER"),
        ("iss", Value::Null, "TOKEN_ISSUER"),
        ("sub", Value::Null, "TOKEN_SUBJECT"),
        ("sub", json!(""), "TOKEN_SUBJECT"),
        ("sub", json!("a\nb"), "TOKEN_SUBJECT"),
    ] {
        world.assert_token_refused(&key.token(&with(issuer.claims(), claim, &value)), code).await;
    }
    assert_eq!(issuer.asked(), 0);
}

#[tokio::test]
async fn no_signature_and_a_symmetric_one_over_the_public_key_are_refused() {
    let key = Signing::rs256("r");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    let good = key.token(&issuer.claims());
    assert!(world.bearer(&good).await.is_ok());
    let (_, rest) = good.split_once('.').unwrap();
    let (claims, signature) = rest.split_once('.').unwrap();
    for header in [r#"{"alg":"none"}"#, r#"{"alg":"None","kid":"r"}"#] {
        for signature in ["", signature] {
            let token = format!("{}.{claims}.{signature}", b64(header.as_bytes()));
            world.assert_token_refused(&token, "TOKEN_ALGORITHM").await;
        }
    }
    for secret in [key.public_text().into_bytes(), b"secret".to_vec()] {
        let header = Header { kid: Some("r".into()), ..Header::new(Algorithm::HS256) };
        let confused = EncodingKey::from_secret(&secret).unwrap();
        let token = jsonwebtoken::encode(&header, &issuer.claims(), &confused).unwrap();
        world.assert_token_refused(&token, "TOKEN_ALGORITHM").await;
    }
    // Another algorithm for the same key, and what was changed after it was signed.
    let header = b64(br#"{"alg":"ES256","kid":"r"}"#);
    world.assert_token_refused(&format!("{header}.{claims}.{signature}"), "TOKEN_KEY").await;
    let admin = b64(with(issuer.claims(), "scope", &json!("weft:admin")).to_string().as_bytes());
    let (header, _) = good.split_once('.').unwrap();
    world.assert_token_refused(&format!("{header}.{admin}.{signature}"), "TOKEN_SIGNATURE").await;
    world.assert_token_refused(&Signing::rs256("r").token_as("x", &issuer.claims()), "TOKEN_KEY").await;
}

#[tokio::test]
async fn an_algorithm_that_the_operator_did_not_allow_is_refused() {
    let key = Signing::eddsa("d");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&format!("{}algorithms = [\"RS256\", \"ES256\"]\n", issuer.access()));
    world.assert_token_refused(&key.token(&issuer.claims()), "TOKEN_ALGORITHM").await;
}

#[tokio::test]
async fn a_key_of_somebody_else_under_a_known_id_signs_nothing() {
    let (key, other) = (Signing::es256("e"), Signing::es256("e"));
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    world.assert_token_refused(&other.token(&issuer.claims()), "TOKEN_SIGNATURE").await;
}

#[tokio::test]
async fn keys_that_the_provider_rotates_are_found_and_the_old_ones_forgotten() {
    let (old, new) = (Signing::es256("old"), Signing::rs256("new"));
    let issuer = Issuer::start(&[&old]).await;
    let world = World::new(&issuer.access());
    assert!(world.bearer(&old.token(&issuer.claims())).await.is_ok());
    issuer.publish(&[&new]);
    // Just asked: the provider is left in peace for a moment.
    world.assert_token_refused(&new.token(&issuer.claims()), "TOKEN_KEY").await;
    assert_eq!(issuer.asked(), 1);
    later(COOLDOWN).await;
    assert!(world.bearer(&new.token(&issuer.claims())).await.is_ok());
    world.assert_token_refused(&old.token(&issuer.claims()), "TOKEN_KEY").await;
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test]
async fn a_thousand_unknown_keys_are_one_question_to_the_provider() {
    let key = Signing::es256("e");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    let claims = issuer.claims();
    let tokens: Vec<_> = (0..1_000).map(|at| key.token_as(&format!("kid-{at}"), &claims)).collect();
    let answers = futures::future::join_all(tokens.iter().map(|token| world.bearer(token))).await;
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap_err().kind == Kind::Unauthenticated));
    assert_eq!((issuer.asked(), world.refused("TOKEN_KEY")), (1, 1_000));
    later(COOLDOWN).await;
    for token in &tokens[..100] {
        assert!(world.bearer(token).await.is_err());
    }
    assert_eq!(issuer.asked(), 2);
    assert!(world.bearer(&key.token(&claims)).await.is_ok(), "good tokens are not in their way");
}

#[tokio::test]
async fn a_provider_that_is_down_is_felt_only_by_whoever_needs_its_keys_now() {
    let (key, other) = (Signing::es256("e"), Signing::es256("f"));
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    issuer.answers(Answer::Error);
    for _ in 0..3 {
        let fault = world.bearer(&key.token(&issuer.claims())).await.unwrap_err();
        assert_eq!((fault.kind, fault.retry_after_ms), (Kind::Unavailable, Some(10_000)));
    }
    assert_eq!(issuer.asked(), 1);
    issuer.answers(Answer::Keys);
    later(COOLDOWN).await;
    assert!(world.bearer(&key.token(&issuer.claims())).await.is_ok());
    issuer.answers(Answer::Error);
    later(COOLDOWN).await;
    let fault = world.bearer(&other.token(&issuer.claims())).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Unavailable);
    assert!(world.bearer(&key.token(&issuer.claims())).await.is_ok());
}

#[tokio::test]
async fn a_provider_that_nobody_answers_for_is_unavailable() {
    let key = Signing::es256("e");
    let issuer = Issuer::start(&[&key]).await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let world = World::new(&issuer.access().replace(&issuer.url, &closed));
    let claims = with(issuer.claims(), "iss", &json!(closed));
    assert_eq!(world.bearer(&key.token(&claims)).await.unwrap_err().kind, Kind::Unavailable);
}

#[tokio::test]
async fn keys_are_fetched_again_when_they_are_old_and_the_caller_does_not_wait_for_it() {
    let key = Signing::es256("e");
    let issuer = Issuer::start(&[&key]).await;
    let world = World::new(&issuer.access());
    let token = key.token(&issuer.claims());
    assert!(world.bearer(&token).await.is_ok());
    later(Duration::from_secs(599)).await;
    assert!(world.bearer(&token).await.is_ok());
    assert_eq!(issuer.asked(), 1);
    issuer.publish(&[]);
    later(Duration::from_secs(1)).await;
    assert!(world.bearer(&token).await.is_ok(), "the old keys are good until the new ones are here");
    // What is spawned ends within its own bound; the answer then changes.
    while world.bearer(&token).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test]
async fn redirects_huge_answers_and_strange_descriptions_give_no_keys() {
    let key = Signing::es256("e");
    let (issuer, target) = (Issuer::start(&[&key]).await, Issuer::start(&[&key]).await);
    for answer in [Answer::Redirect(format!("{}/jwks", target.url)), Answer::Huge] {
        issuer.answers(answer.clone());
        let world = World::new(&issuer.access());
        let fault = world.bearer(&key.token(&issuer.claims())).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Unavailable, "{answer:?}");
    }
    assert_eq!(target.asked(), 0);
    issuer.answers(Answer::Keys);
    issuer.calls_itself("https://elsewhere.example");
    let world = World::new(&issuer.access());
    let fault = world.bearer(&key.token(&issuer.claims())).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Unavailable);
    // Keys that the operator named need no description.
    let world = World::new(&format!("{}jwks = \"{}/jwks\"\n", issuer.access(), issuer.url));
    assert!(world.bearer(&key.token(&issuer.claims())).await.is_ok());
}
