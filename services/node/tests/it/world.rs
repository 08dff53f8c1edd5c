//! A node made from a manifest and files in a temporary folder, and a mesh that knows how to seal a call to it.

use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;
use weft_chassis::{Env, Peer};
use weft_core::manifest::{Manifest, Problems};
use weft_node::{Host, Place, Settings};
use weft_proto::weft::InvokeResult;
use weft_seal::{Call, Key, Trust, digest, seal};

pub(crate) struct World {
    pub(crate) host: Host,
    pub(crate) peer: Peer,
    pub(crate) key: Key,
    pub(crate) env: Env,
    pub(crate) folder: TempDir,
    nonce: AtomicU8,
}

/// The head of every manifest here.
pub(crate) const NODE: &str = "[node]\nid = \"test\"\nname = \"Test\"\nrole = \"to be tested\"\n";

/// A manifest with one tool `test.rows` of this source and these further lines.
pub(crate) fn manifest(source: &str, lines: &str) -> String {
    format!("{NODE}[[tool]]\nname = \"test.rows\"\ndescription = \"rows\"\nsource = {source}\n{lines}\n")
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    folder
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

impl World {
    pub(crate) async fn open(text: &str, files: &[(&str, &str)]) -> World {
        World::try_open(text, files).await.unwrap_or_else(|problems| panic!("{problems}"))
    }

    pub(crate) async fn try_open(text: &str, files: &[(&str, &str)]) -> Result<World, Problems> {
        World::with(Manifest::parse("test.toml", text)?, folder(files), Env::system(), &Settings::default())
            .await
    }

    pub(crate) async fn with(
        manifest: Manifest,
        folder: TempDir,
        env: Env,
        settings: &Settings,
    ) -> Result<World, Problems> {
        let key = Key::from_seed(&[7; 32]);
        let place = Place { base_dir: folder.path().to_owned(), data_dir: folder.path().join("data") };
        let host = Host::open(manifest, place, trust(&key), settings, &env).await?;
        Ok(World::around(host, key, env, folder))
    }

    pub(crate) fn around(host: Host, key: Key, env: Env, folder: TempDir) -> World {
        World { peer: host.peer(), host, key, env, folder, nonce: AtomicU8::new(0) }
    }

    /// The sealed call, ready to be spoilt.
    pub(crate) fn request(&self, body: &str, scope: &str, accept: &str) -> Request<String> {
        self.request_by(body, scope, accept, &[("weft-depth", "1")])
    }

    /// The sealed call, come by this way.
    pub(crate) fn request_by(
        &self,
        body: &str,
        scope: &str,
        accept: &str,
        hop: &[(&str, &str)],
    ) -> Request<String> {
        self.request_at("/peer/invoke", body, scope, accept, hop)
    }

    /// The sealed call of another route.
    pub(crate) fn request_at(
        &self,
        path: &str,
        body: &str,
        scope: &str,
        accept: &str,
        hop: &[(&str, &str)],
    ) -> Request<String> {
        let uri = format!("http://{}{path}", self.host.id());
        let call = Call {
            method: "POST",
            target_uri: &uri,
            body_sha256: digest(body.as_bytes()),
            audience: self.host.id(),
            scope,
            hop,
        };
        let nonce = [self.nonce.fetch_add(1, Ordering::Relaxed); 16];
        let headers = seal(&self.key, &call, self.env.unix_ms() / 1_000, &nonce).unwrap();
        let mut request = Request::new(body.to_owned());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.parse().unwrap();
        request.headers_mut().extend(headers);
        request.headers_mut().insert(http::header::ACCEPT, HeaderValue::from_str(accept).unwrap());
        request
    }

    /// Status and body.
    pub(crate) async fn send(&self, request: Request<String>) -> (StatusCode, String) {
        let request = request.map(|body| tonic::body::Body::new(http_body_util::Full::from(body)));
        let response = self.peer.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// One call of a tool: its result.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> InvokeResult {
        let body = json!({ "tool": tool, "arguments": arguments }).to_string();
        let (status, body) =
            self.send(self.request(&body, &format!("tool:{tool}"), "application/json")).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        weft_proto::json::decode(body.as_bytes()).unwrap()
    }

    /// The rows of `test.rows`, as JSON.
    pub(crate) async fn rows(&self, arguments: Value) -> Value {
        let result = self.call("test.rows", arguments).await;
        assert!(result.ok, "{result:?}");
        as_json(&result.result.unwrap())
    }

    /// Code and text of a call of `test.rows` that fails.
    pub(crate) async fn failure(&self, arguments: Value) -> (String, String) {
        let result = self.call("test.rows", arguments).await;
        assert!(!result.ok && result.result.is_none(), "{result:?}");
        (result.code, result.error)
    }
}

pub(crate) fn trust(key: &Key) -> Trust {
    let mut trust = Trust::new();
    trust.add("mesh", key).unwrap();
    trust
}

pub(crate) fn as_json(value: &weft_proto::wkt::Value) -> Value {
    serde_json::from_slice(&weft_proto::json::encode(value).unwrap()).unwrap()
}

pub(crate) fn header(request: &mut Request<String>, name: &'static str, value: &str) {
    request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
}
