//! The listeners under TLS, over real sockets.

#[path = "../../src/tls/tests/certs.rs"]
pub(crate) mod certs;

use std::sync::Arc;

use http::Version;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use weft_chassis::Outbound;
use weft_edge::Settings;
use weft_proto::a2a::ListTasksRequest;
use weft_proto::a2a::a2a_service_client::A2aServiceClient;

use crate::listener::{GENEROUS, Live, live};
use crate::world::rpc;
use certs::Authority;

/// An edge behind a certificate.
struct Secure {
    dir: tempfile::TempDir,
    authority: Authority,
    live: Live,
}

impl Secure {
    async fn with(change: impl FnOnce(&mut Settings)) -> Secure {
        let (dir, authority) = (tempfile::tempdir().unwrap(), Authority::new("servers"));
        authority.leaf("localhost").write(dir.path());
        std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let live = live(|settings| {
            (settings.tls_cert, settings.tls_key) = (file("cert.pem"), file("key.pem"));
            change(settings);
        })
        .await;
        Secure { dir, authority, live }
    }

    fn client(&self) -> reqwest::ClientBuilder {
        let ca = self.dir.path().join("ca.pem");
        Outbound::with_files(Some(&ca), None).unwrap().client("tests").unwrap().timeout(GENEROUS)
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.live.at)
    }
}

#[tokio::test]
async fn http_2_is_agreed_on_and_the_card_and_the_browsers_are_told() {
    let secure = Secure::with(|_| {}).await;
    let client = secure.client().build().unwrap();
    let answer = client.get(secure.url("/.well-known/agent-card.json")).send().await.unwrap();
    assert_eq!(answer.version(), Version::HTTP_2);
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=31536000");
    let card: Value = answer.json().await.unwrap();
    let urls: Vec<_> = card["supportedInterfaces"].as_array().unwrap().iter().map(|i| &i["url"]).collect();
    assert!(urls.contains(&&json!(secure.url("/a2a"))), "{urls:?}");
    drop(client);
    assert!(secure.live.env.drain(GENEROUS).await, "every connection ended");
}

#[tokio::test]
async fn a_client_that_wants_http_1_or_does_not_say_is_answered_in_it() {
    let secure = Secure::with(|_| {}).await;
    let roots = CertificateDer::pem_slice_iter(secure.authority.pem().as_bytes())
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    for protocols in [vec![b"http/1.1".to_vec()], vec![]] {
        let mut config = weft_chassis::tls::client("tests", &roots, None).unwrap();
        config.alpn_protocols.clone_from(&protocols);
        let stream = TcpStream::connect(secure.live.at).await.unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), protocols.first().map(Vec::as_slice));
        stream.write_all(secure.live.call(&rpc("ListTasks", &json!({}))).as_bytes()).await.unwrap();
        let mut answer = String::new();
        tokio::time::timeout(GENEROUS, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(
            answer.contains(r#""totalSize":0"#) && answer.contains("strict-transport-security"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn browsers_are_told_nothing_when_the_operator_says_so_or_nothing_is_secure() {
    let secure = Secure::with(|settings| settings.hsts_max_age_s = 0).await;
    let answer = secure.client().build().unwrap().get(secure.url("/healthz")).send().await.unwrap();
    assert!(answer.status().is_success() && !answer.headers().contains_key("strict-transport-security"));
    let plain = live(|_| {}).await;
    let answer = plain.say(&plain.call(&rpc("ListTasks", &json!({})))).await;
    assert!(!answer.contains("strict-transport-security"), "{answer}");
}

#[tokio::test]
async fn plain_http_is_told_what_is_spoken() {
    let secure = Secure::with(|_| {}).await;
    let answer = secure.live.say(&secure.live.call(&rpc("ListTasks", &json!({})))).await;
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.contains("this port speaks https") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_holds_up_nobody() {
    let secure = Secure::with(|_| {}).await;
    let mut silent = TcpStream::connect(secure.live.at).await.unwrap();
    // The beginning of a ClientHello.
    silent.write_all(&[22, 3, 1, 0, 200, 1]).await.unwrap();
    let answer = secure.client().build().unwrap().get(secure.url("/healthz")).send().await.unwrap();
    assert!(answer.status().is_success());
    drop(silent);
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let secure = Secure::with(|settings| settings.header_read_ms = 50).await;
    for beginning in [&[][..], &[22, 3, 1, 0, 200, 1]] {
        let mut silent = TcpStream::connect(secure.live.at).await.unwrap();
        silent.write_all(beginning).await.unwrap();
        let ended = tokio::time::timeout(GENEROUS, silent.read_to_end(&mut Vec::new())).await;
        assert!(ended.is_ok(), "{beginning:?}");
    }
}

#[tokio::test]
async fn a_stop_waits_for_no_handshake() {
    let secure = Secure::with(|_| {}).await;
    let silent = TcpStream::connect(secure.live.at).await.unwrap();
    // A call later, the connection before it has been accepted.
    secure.client().build().unwrap().get(secure.url("/healthz")).send().await.unwrap();
    assert!(secure.live.env.drain(GENEROUS).await);
    drop(silent);
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_without_a_restart() {
    let secure = Secure::with(|settings| settings.tls_poll_ms = 50).await;
    let renewed = Authority::new("renewed");
    let ca = secure.dir.path().join("renewed.pem");
    std::fs::write(&ca, renewed.pem()).unwrap();
    let trusting = Outbound::with_files(Some(&ca), None).unwrap();
    // A client for each look: a kept connection would show the certificate that it began with.
    let look = || trusting.client("tests").unwrap().build().unwrap().get(secure.url("/healthz")).send();
    assert!(look().await.is_err());
    renewed.leaf("localhost").write(secure.dir.path());
    let seen = async {
        while look().await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(GENEROUS, seen).await.expect("it is shown");
}

#[tokio::test]
async fn grpc_is_spoken_under_tls_on_both_listeners() {
    let secure = Secure::with(|settings| settings.grpc = "127.0.0.1:0".into()).await;
    let apart = secure.live.grpc.expect("it has a listener of its own");
    let provider = rustls::crypto::ring::default_provider();
    let _ = provider.install_default();
    for at in [secure.live.at, apart] {
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(secure.authority.pem()))
            .domain_name("localhost");
        let endpoint = Endpoint::try_from(format!("https://{at}")).unwrap().tls_config(tls).unwrap();
        let channel = tokio::time::timeout(GENEROUS, endpoint.connect()).await.unwrap().unwrap();
        let mut client = A2aServiceClient::new(channel);
        let answer = client.list_tasks(ListTasksRequest::default()).await.unwrap();
        assert_eq!(answer.into_inner().total_size, 0, "{at}");
    }
}
