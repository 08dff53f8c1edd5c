//! Custom authorities and the proxy, against real sockets.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use reqwest::dns::{Name, Resolve, Resolving};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{Outbound, Settings, chain};

/// An authority in a file, and a server behind a certificate of it.
struct Place {
    dir: tempfile::TempDir,
    port: u16,
}

/// What a proxy was asked.
type Asked = Arc<Mutex<Vec<String>>>;

/// Lets nobody go anywhere.
struct Nowhere;

impl Resolve for Nowhere {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err("the guard says no".into()) })
    }
}

/// The head of a request, its lines joined.
async fn head(stream: impl AsyncRead + Unpin) -> String {
    let (mut lines, mut head) = (BufReader::new(stream).lines(), String::new());
    while let Ok(Some(line)) = lines.next_line().await {
        if line.is_empty() {
            break;
        }
        head.push_str(&line);
        head.push('\n');
    }
    head
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    head(&mut stream).await;
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await;
    let _ = stream.shutdown().await;
}

#[allow(clippy::disallowed_methods, reason = "ends with the test's runtime")]
fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(work);
}

impl Place {
    async fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = vec!["mesh.test".to_owned(), "localhost".to_owned()];
        let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key.into())
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(stream).await {
                    answer(stream).await;
                }
            }
        });
        Place { dir, port }
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn trusting(&self) -> Settings {
        Settings { ca_files: vec![self.file("ca.pem")], ..Settings::default() }
    }

    /// A proxy that takes every name for the server's.
    async fn proxy(&self) -> (String, Asked) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, port) = (Asked::default(), self.port);
        let writing = Arc::clone(&asked);
        spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let writing = Arc::clone(&writing);
                spawn(async move {
                    let said = head(&mut stream).await;
                    writing.lock().unwrap().push(said);
                    let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
                });
            }
        });
        (format!("http://{address}"), asked)
    }
}

async fn get(client: reqwest::ClientBuilder, url: &str) -> Result<String, String> {
    let client = client.build().unwrap();
    let answer = client.get(url).send().await.map_err(|error| chain(&error))?;
    answer.text().await.map_err(|error| chain(&error))
}

#[tokio::test]
async fn a_server_is_believed_when_its_authority_is_in_a_file() {
    let place = Place::new().await;
    let url = format!("https://localhost:{}/", place.port);
    let stranger = Outbound::default().client("tests").unwrap();
    let refused = get(stranger, &url).await.unwrap_err();
    assert!(refused.contains("certificate"), "{refused}");
    let trusting = Outbound::open(&place.trusting()).unwrap();
    assert_eq!(get(trusting.client("tests").unwrap(), &url).await.unwrap(), "ok");
    let file = place.file("ca.pem");
    let alone = Outbound::with_files(Some(Path::new(&file)), None).unwrap();
    assert_eq!(get(alone.client("tests").unwrap(), &url).await.unwrap(), "ok");
}

#[tokio::test]
async fn others_are_called_through_the_proxy_and_this_machine_and_the_excepted_are_not() {
    let place = Place::new().await;
    let (proxy, asked) = place.proxy().await;
    std::fs::write(place.file("proxy"), "weft:s3cret\n").unwrap();
    let settings = Settings { proxy, proxy_credentials_file: place.file("proxy"), ..place.trusting() };
    let through = Outbound::open(&settings).unwrap();
    // No name server knows `mesh.test` (RFC 6761): whoever reaches it was led there.
    assert_eq!(get(through.client("tests").unwrap(), "https://mesh.test/").await.unwrap(), "ok");
    let said = std::mem::take(&mut *asked.lock().unwrap());
    assert_eq!(said.len(), 1, "{said:?}");
    let said = said[0].to_lowercase();
    assert!(said.starts_with("connect mesh.test:443 "), "{said}");
    assert!(said.contains("proxy-authorization: basic d2vmddpzm2nyzxq="), "{said}");
    assert!(!format!("{through:?}").contains("s3cret"));

    let here = format!("https://localhost:{}/", place.port);
    assert_eq!(get(through.client("tests").unwrap(), &here).await.unwrap(), "ok");
    let except = Settings { no_proxy: vec!["mesh.test".into()], ..settings };
    let direct = Outbound::open(&except).unwrap().client("tests").unwrap();
    assert!(get(direct, "https://mesh.test/").await.is_err());
    assert!(asked.lock().unwrap().is_empty(), "the proxy was asked");
}

#[tokio::test]
async fn a_guard_is_passed_by_only_when_the_operator_says_so() {
    let place = Place::new().await;
    let (proxy, asked) = place.proxy().await;
    let settings = Settings { proxy, ..place.trusting() };
    let guarded = Outbound::open(&settings).unwrap().guarded("tests", Nowhere).unwrap();
    let refused = get(guarded, "https://mesh.test/").await.unwrap_err();
    assert!(refused.contains("the guard says no"), "{refused}");
    assert!(asked.lock().unwrap().is_empty(), "the proxy was asked");

    // The proxy is named, not numbered, so that it is resolved: the guard is not asked about it.
    let named = settings.proxy.replace("127.0.0.1", "localhost");
    let meant =
        Settings { proxy: named, proxy_guarded: true, no_proxy: vec!["other.test".into()], ..settings };
    let meant = Outbound::open(&meant).unwrap();
    let through = |url: &'static str| get(meant.guarded("tests", Nowhere).unwrap(), url);
    assert_eq!(through("https://mesh.test/").await.unwrap(), "ok");
    let refused = through("https://other.test/").await.unwrap_err();
    assert!(refused.contains("the guard says no"), "{refused}");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_with_the_setting_and_the_remedy_and_no_secret() {
    let place = Place::new().await;
    std::fs::write(place.file("none.pem"), "nothing").unwrap();
    std::fs::write(place.file("alone"), "s3cret").unwrap();
    let refused = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        Outbound::open(&settings).unwrap_err()
    };
    let words = |text: &str, words: &[&str]| {
        assert!(words.iter().all(|word| text.contains(word)) && !text.contains("s3cret"), "{text}");
    };
    words(
        &refused(&|s| s.ca_files = vec![place.file("gone.pem")]),
        &["outbound.ca_files", "gone.pem", "read"],
    );
    words(
        &refused(&|s| s.ca_files = vec![place.file("none.pem")]),
        &["outbound.ca_files", "BEGIN CERTIFICATE"],
    );
    for proxy in ["http://weft:s3cret@proxy.test:1", "weft:s3cret@proxy.test", "http://weft@proxy.test"] {
        words(&refused(&|s| s.proxy = proxy.into()), &["outbound.proxy", "outbound.proxy_credentials_file"]);
    }
    for proxy in ["proxy.test:3128", "socks5://proxy.test", "http://proxy.test/x", "http://"] {
        words(&refused(&|s| s.proxy = proxy.into()), &["outbound.proxy", "http://proxy.example:3128"]);
    }
    let proxied = |s: &mut Settings| s.proxy = "http://proxy.test".into();
    words(
        &refused(&|s| {
            proxied(s);
            s.proxy_credentials_file = place.file("alone");
        }),
        &["outbound.proxy_credentials_file", "user:password"],
    );
    words(
        &refused(&|s| {
            proxied(s);
            s.no_proxy = vec!["http://a".into()];
        }),
        &["outbound.no_proxy", "10.0.0.0/8"],
    );
    words(&refused(&|s| s.no_proxy = vec!["a".into()]), &["outbound.no_proxy", "outbound.proxy is not"]);
}
