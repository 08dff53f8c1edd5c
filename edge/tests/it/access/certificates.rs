//! Clients that prove who they are with a certificate, over real sockets.

use std::sync::Arc;

use http::StatusCode;
use weft_chassis::{Env, Outbound};
use weft_edge::Settings;
use weft_proto::weft::AccessPolicy;

use super::{ajar, behind};
use crate::listener::GENEROUS;
use crate::store::lock;
use crate::tls::certs::{Authority, Leaf};
use crate::world::{hello, rpc};

#[tokio::test]
async fn a_certificate_of_the_authorities_in_the_policy_is_shown_to_the_signer_and_others_do_not_get_in() {
    let (dir, servers, clients) =
        (tempfile::tempdir().unwrap(), Authority::new("servers"), Authority::new("clients"));
    servers.leaf("localhost").write(dir.path());
    let ca = dir.path().join("ca.pem");
    std::fs::write(&ca, servers.pem()).unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let settings = Settings {
        http: "127.0.0.1:0".into(),
        tls_cert: file("cert.pem"),
        tls_key: file("key.pem"),
        drain_ms: 0,
        ..Settings::default()
    };
    let script = Arc::default();
    let policy = AccessPolicy { client_ca_pem: clients.pem(), ..ajar() };
    let (upstreams, gate, _policy, _catalog) = behind(&script, policy);
    let bound = weft_edge::bind(settings, &upstreams, &Env::system()).await.unwrap();
    let url = format!("https://{}/a2a", bound.address());
    bound.serve();

    let ours = clients.leaf("ci.example");
    let unknown = clients.leaf("other.example");
    *lock(&gate.0.certificate) = Some(ours.cert.der().to_vec());
    let call = |leaf: Option<&Leaf>, token: Option<&str>| {
        let shown = tempfile::tempdir().unwrap();
        let (cert, key) = (shown.path().join("cert.pem"), shown.path().join("key.pem"));
        if let Some(leaf) = leaf {
            leaf.write(shown.path());
        }
        let identity = leaf.map(|_| (cert.as_path(), key.as_path()));
        let outbound = Outbound::with_files(Some(&ca), identity).unwrap();
        let client = outbound.client("tests").unwrap().timeout(GENEROUS);
        let request = client.build().unwrap().post(&url).header("content-type", "application/json");
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.body(rpc("SendMessage", &hello("network state"))).send()
    };
    assert_eq!(call(Some(&ours), None).await.unwrap().status(), StatusCode::OK);
    assert_eq!(lock(&script.submitted).remove(0).owner, "p:ci");
    assert_eq!(call(Some(&unknown), None).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(call(Some(&ours), Some("ci-token")).await.unwrap().status(), StatusCode::OK);
    assert_eq!(call(Some(&ours), Some("other-token")).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    // Nothing shown is nobody in particular, not somebody wrong.
    lock(&script.submitted).clear();
    assert_eq!(call(None, None).await.unwrap().status(), StatusCode::OK);
    assert!(lock(&script.submitted).remove(0).owner.starts_with("anon:"));
    let strange = Authority::new("strangers").leaf("ci.example");
    assert!(call(Some(&strange), None).await.is_err(), "no authority of ours vouches for it");
    assert!(lock(&script.submitted).is_empty());
    let asked = std::mem::take(&mut *lock(&gate.0.asked));
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.peer == "127.0.0.1"));
}
