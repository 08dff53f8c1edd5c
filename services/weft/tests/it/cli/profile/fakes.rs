//! Agents that say who called them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::response::IntoResponse;
use http::StatusCode;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::certs::Authority;

/// An agent that remembers with what it was called, as `Authorization` and `X-API-Key`.
pub(super) struct Fake {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

fn card(url: &str) -> Value {
    json!({
        "name": "fake", "description": "d", "version": "1", "skills": [], "capabilities": {},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "supportedInterfaces":
            [{ "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "url": format!("{url}/a2a") }],
    })
}

impl Fake {
    pub(super) async fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<(String, String)>>>::default();
        let (at, writing) = (url.clone(), Arc::clone(&seen));
        let app = Router::new().fallback(move |request: Request| {
            let header = |name: &str| {
                let value = request.headers().get(name).and_then(|value| value.to_str().ok());
                value.unwrap_or_default().to_owned()
            };
            let shown = (header("authorization"), header("x-api-key"));
            let status = match shown.0.as_str() {
                "Bearer unknown" => StatusCode::UNAUTHORIZED,
                "Bearer weak" => StatusCode::FORBIDDEN,
                _ => StatusCode::OK,
            };
            let answer = if request.method() == http::Method::GET {
                axum::Json(card(&at)).into_response()
            } else {
                writing.lock().unwrap().push(shown);
                let result =
                    json!({ "id": "t1", "contextId": "c1", "status": { "state": "TASK_STATE_WORKING" } });
                let body = match status {
                    StatusCode::OK => json!({ "jsonrpc": "2.0", "id": 1, "result": result }),
                    _ => json!({ "message": "no" }),
                };
                (status, axum::Json(body)).into_response()
            };
            async move { answer }
        });
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Fake { url, seen }
    }

    /// With what it was called last.
    pub(super) fn last(&self) -> (String, String) {
        self.seen.lock().unwrap().last().cloned().expect("it was called")
    }
}

/// A server that shows a card to whoever shows a certificate.
pub(super) async fn mutual(authority: &Authority, clients: &Authority) -> SocketAddr {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(clients.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let leaf = authority.leaf("localhost");
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![leaf.cert.der().clone()], leaf.key.into())
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => break,
                }
            }
            let body = card(&format!("https://{at}")).to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    at
}
