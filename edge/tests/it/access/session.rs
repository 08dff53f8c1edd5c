//! The console's session: who gets one, what it is good for, and from where.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;

use super::{Guarded, closed, with};
use crate::store::lock;
use crate::world::{Reply, post, rpc};

const HERE: (&str, &str) = ("origin", "http://127.0.0.1:8420");

async fn ask(guarded: &Guarded, method: Method, path: &str, headers: &[(&str, &str)]) -> Reply {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8420");
    guarded.world.send(with(request, headers).body(Body::empty()).unwrap()).await
}

/// Signs in; the cookie as a browser sends it back.
async fn cookie(guarded: &Guarded) -> String {
    let reply = ask(guarded, Method::POST, "/api/session", &[("authorization", "Bearer admin-token")]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(reply.json(), json!({"needed": true, "signedIn": true, "name": "root"}));
    let set = reply.header("set-cookie");
    let (pair, attributes) = set.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    assert!(pair.strip_prefix("weft_session=").is_some_and(|id| id.len() == 64), "{pair}");
    pair.to_owned()
}

async fn signed_in(guarded: &Guarded, cookie: &str) -> bool {
    let reply = ask(guarded, Method::GET, "/api/session", &[("cookie", cookie)]).await;
    reply.json()["signedIn"].as_bool().unwrap()
}

#[tokio::test]
async fn an_administrator_signs_in_and_out_again() {
    let guarded = Guarded::new(closed()).await;
    let before = ask(&guarded, Method::GET, "/api/session", &[]).await;
    assert_eq!(before.json(), json!({"needed": true, "signedIn": false, "name": ""}));
    let cookie = cookie(&guarded).await;
    assert!(signed_in(&guarded, &cookie).await);
    assert!(!signed_in(&guarded, "weft_session=other").await);
    let catalog = ask(&guarded, Method::GET, "/api/catalog", &[("cookie", &cookie)]).await;
    assert_eq!(catalog.status, StatusCode::OK);
    let call = with(post(), &[("cookie", &cookie), HERE]).body(rpc("GetTask", &json!({"id": "t1"})).into());
    assert_eq!(guarded.world.send(call.unwrap()).await.status, StatusCode::OK);
    assert_eq!(lock(&guarded.world.script.got).remove(0).owner, "p:root");
    let out = ask(&guarded, Method::DELETE, "/api/session", &[("cookie", &cookie), HERE]).await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
    assert!(out.header("set-cookie").starts_with("weft_session=; Path=/; Max-Age=0;"), "{out:?}");
    assert!(!signed_in(&guarded, &cookie).await);
    let over = ask(&guarded, Method::GET, "/api/catalog", &[("cookie", &cookie)]).await;
    assert_eq!(over.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn nobody_else_gets_one() {
    let guarded = Guarded::new(closed()).await;
    for (shown, status) in [
        (&[][..], StatusCode::UNAUTHORIZED),
        (&[("authorization", "Bearer nobody")], StatusCode::UNAUTHORIZED),
        (&[("authorization", "Bearer ci-token")], StatusCode::FORBIDDEN),
        (&[("x-api-key", "ci-key")], StatusCode::UNAUTHORIZED),
    ] {
        let reply = ask(&guarded, Method::POST, "/api/session", shown).await;
        assert_eq!(reply.status, status, "{shown:?}");
        assert!(!reply.headers.contains_key("set-cookie") && reply.headers.contains_key("www-authenticate"));
    }
    let open = Guarded::new(weft_proto::weft::AccessPolicy::default()).await;
    let shown = ask(&open, Method::GET, "/api/session", &[]).await;
    assert_eq!(shown.json(), json!({"needed": false, "signedIn": false, "name": ""}));
    let reply = ask(&open, Method::POST, "/api/session", &[("authorization", "Bearer admin-token")]).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn another_page_does_nothing_with_it() {
    let listed =
        |settings: &mut weft_edge::Settings| settings.allowed_origins = vec!["https://app.example".into()];
    let guarded = Guarded::with(closed(), listed).await;
    let cookie = cookie(&guarded).await;
    let call = |headers: &[(&str, &str)]| {
        let request = with(post().header("cookie", &cookie), headers);
        request.body(Body::from(rpc("CancelTask", &json!({"id": "t1"})))).unwrap()
    };
    for elsewhere in [
        &[][..],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "none")],
        &[("origin", "https://app.example")],
        &[("origin", "http://127.0.0.1:9999")],
        &[("origin", "null")],
    ] {
        let reply = guarded.world.send(call(elsewhere)).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{elsewhere:?}");
        assert_eq!(reply.json()["error"]["code"], -32053);
        let mut leaving = elsewhere.to_vec();
        leaving.push(("cookie", &cookie));
        let kept = ask(&guarded, Method::DELETE, "/api/session", &leaving).await;
        assert_eq!(kept.status, StatusCode::FORBIDDEN, "{elsewhere:?}");
    }
    let framed = [("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")];
    assert_eq!(ask(&guarded, Method::GET, "/api/catalog", &framed).await.status, StatusCode::FORBIDDEN);
    assert!(guarded.is_untouched());
    for own in [&[HERE][..], &[("sec-fetch-site", "same-origin")]] {
        assert_eq!(guarded.world.send(call(own)).await.status, StatusCode::OK, "{own:?}");
    }
}

#[tokio::test]
async fn another_policy_ends_it() {
    let guarded = Guarded::new(closed()).await;
    let cookie = cookie(&guarded).await;
    guarded.policy.send_modify(|policy| policy.version += 1);
    for _ in 0..10_000 {
        if !signed_in(&guarded, &cookie).await {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the session outlives its policy");
}

#[tokio::test]
async fn under_tls_the_cookie_goes_over_tls_alone_and_below_the_base_path() {
    let guarded =
        Guarded::with(closed(), |settings| settings.public_url = "https://mesh.example".into()).await;
    let reply = ask(&guarded, Method::POST, "/api/session", &[("authorization", "Bearer admin-token")]).await;
    assert!(reply.header("set-cookie").ends_with("; SameSite=Strict; Secure"), "{reply:?}");
}

#[tokio::test]
async fn an_open_feed_ends_with_the_policy_that_it_was_opened_under() {
    let guarded = Guarded::new(closed()).await;
    let cookie = cookie(&guarded).await;
    let feed = || {
        let request = Request::get("/api/tasks/feed").header("host", "127.0.0.1:8420");
        guarded.world.open(with(request, &[("cookie", &cookie)]).body(Body::empty()).unwrap())
    };
    let open = feed().await;
    assert_eq!(open.status(), StatusCode::OK);
    // The same policy, said again, ends nothing.
    guarded.policy.send_modify(|_| {});
    let mut body = open.into_body();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let polled = futures::poll!(std::pin::pin!(body.frame()));
    assert!(polled.is_pending(), "{polled:?}");
    guarded.policy.send_modify(|policy| policy.version += 1);
    assert!(body.frame().await.is_none());
    assert_eq!(feed().await.status(), StatusCode::UNAUTHORIZED);
}
