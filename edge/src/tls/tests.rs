//! Handshakes over real sockets: clients with certificates and without, and what changes while the mesh runs.

pub(crate) mod certs;

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsConnector;
use weft_chassis::Env;

use super::*;
use certs::{Authority, Leaf};

/// TLS of a server, and who may change what.
struct World {
    dir: tempfile::TempDir,
    server: Authority,
    authorities: watch::Sender<Option<Arc<str>>>,
    tls: Tls,
    env: Env,
}

impl World {
    async fn new(clients: Option<&Authority>) -> World {
        let (dir, server) = (tempfile::tempdir().unwrap(), Authority::new("servers"));
        server.leaf("localhost").write(dir.path());
        let (authorities, watched) = watch::channel(clients.map(|clients| Arc::from(clients.pem())));
        let env = Env::system();
        let tls = Tls::open(&settings(dir.path()), watched, &env).await.unwrap().unwrap();
        World { dir, server, authorities, tls, env }
    }

    /// One handshake: what the server has of it, after the client has sent a byte and read one.
    async fn shake(
        &self,
        client: Option<&Leaf>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> std::io::Result<Secured> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(&self.server.pem()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let config = match client {
            Some(leaf) => config
                .with_client_auth_cert(
                    vec![leaf.cert.der().clone()],
                    leaf.key.serialize_der().try_into().unwrap(),
                )
                .unwrap(),
            None => config.with_no_client_auth(),
        };
        let calling = async {
            let stream = TcpStream::connect(address).await.unwrap();
            let connector = TlsConnector::from(Arc::new(config));
            let mut stream = connector.connect("localhost".try_into().unwrap(), stream).await?;
            stream.write_all(b"?").await?;
            stream.read_u8().await
        };
        let serving = async {
            let (stream, _) = listener.accept().await.unwrap();
            let Accepted::Tls(mut secured) = self.tls.accept(stream).await? else { panic!("it spoke TLS") };
            assert_eq!(secured.stream.read_u8().await?, b'?');
            secured.stream.write_all(b"!").await?;
            Ok::<_, std::io::Error>(*secured)
        };
        let (heard, served) = tokio::join!(calling, serving);
        assert_eq!(heard.is_ok(), served.is_ok(), "both ends see the same: {heard:?}");
        served
    }

    async fn certificate(&self, client: Option<&Leaf>) -> std::io::Result<Option<Vec<u8>>> {
        let secured = self.shake(client, rustls::ALL_VERSIONS).await?;
        Ok(secured.client.map(|(certificate, _)| certificate.0.to_vec()))
    }
}

fn settings(dir: &std::path::Path) -> Settings {
    let file = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    Settings { tls_cert: file("cert.pem"), tls_key: file("key.pem"), ..Settings::default() }
}

fn certificates(pem: &str) -> Vec<rustls::pki_types::CertificateDer<'static>> {
    use rustls::pki_types::pem::PemObject;
    rustls::pki_types::CertificateDer::pem_slice_iter(pem.as_bytes()).map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_client_may_prove_who_it_is_or_not_but_not_with_a_strangers_certificate() {
    let clients = Authority::new("clients");
    let world = World::new(Some(&clients)).await;
    let known = clients.leaf("ci.example");
    for version in rustls::ALL_VERSIONS {
        let secured = world.shake(Some(&known), &[version]).await.unwrap();
        let (certificate, _) = secured.client.expect("it has shown one");
        assert_eq!(&*certificate.0, known.cert.der().as_ref(), "{version:?}");
        assert!(world.shake(None, &[version]).await.unwrap().client.is_none(), "{version:?}");
        for foreign in [Authority::new("clients"), Authority::new("others")] {
            assert!(world.shake(Some(&foreign.leaf("ci.example")), &[version]).await.is_err(), "{version:?}");
        }
    }
}

#[tokio::test]
async fn without_authorities_nobody_is_asked_for_a_certificate() {
    let world = World::new(None).await;
    let unasked = Authority::new("any").leaf("ci.example");
    assert_eq!(world.certificate(Some(&unasked)).await.unwrap(), None);
}

#[tokio::test]
async fn other_authorities_hold_for_new_connections_and_end_what_the_old_ones_vouched_for() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let world = World::new(Some(&old)).await;
    let known = old.leaf("ci.example");
    let (_, holds) = world.shake(Some(&known), rustls::ALL_VERSIONS).await.unwrap().client.unwrap();

    world.authorities.send_replace(Some("-----BEGIN CERTIFICATE-----\nbroken".into()));
    tokio::task::yield_now().await;
    assert!(world.certificate(Some(&known)).await.unwrap().is_some(), "what cannot be read changes nothing");
    assert!(!holds.is_cancelled());

    world.authorities.send_replace(Some(new.pem().into()));
    tokio::time::timeout(Duration::from_secs(30), holds.cancelled()).await.expect("it holds no longer");
    assert!(world.certificate(Some(&known)).await.is_err());
    assert!(world.certificate(Some(&new.leaf("ci.example"))).await.unwrap().is_some());

    let (_, holds) =
        world.shake(Some(&new.leaf("ci.example")), rustls::ALL_VERSIONS).await.unwrap().client.unwrap();
    world.authorities.send_replace(Some("".into()));
    tokio::time::timeout(Duration::from_secs(30), holds.cancelled()).await.expect("it holds no longer");
    assert_eq!(world.certificate(Some(&known)).await.unwrap(), None, "nobody is asked any more");
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_and_one_that_fits_no_key_is_not() {
    let world = World::new(None).await;
    let files = Files { cert: world.dir.path().join("cert.pem"), key: world.dir.path().join("key.pem") };
    let pair = files.read().await.unwrap();
    let (sender, current) = watch::channel(Current::new(&pair, None).unwrap());
    let nobody = watch::channel(None).1;
    let mut follower = follow::Follower::new(files.clone(), pair, nobody, None, sender);
    let before = current.borrow().config.clone();
    follower.look().await;
    assert!(Arc::ptr_eq(&before, &current.borrow().config), "nothing changed");

    let renewed = world.server.leaf("localhost");
    std::fs::write(&files.cert, renewed.cert.pem()).unwrap();
    follower.look().await;
    assert!(Arc::ptr_eq(&before, &current.borrow().config), "its key is not there yet");
    std::fs::remove_file(&files.key).unwrap();
    follower.look().await;
    assert!(Arc::ptr_eq(&before, &current.borrow().config), "there is no key at all");
    renewed.write(world.dir.path());
    follower.look().await;
    let after = current.borrow().config.clone();
    assert!(!Arc::ptr_eq(&before, &after));
    std::fs::write(&files.key, "no key").unwrap();
    follower.look().await;
    assert!(Arc::ptr_eq(&after, &current.borrow().config));
    assert!(!current.borrow().clients.is_cancelled(), "clients keep what they proved");
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_with_the_setting_and_the_file() {
    let world = World::new(None).await;
    let refused = async |change: &dyn Fn(&mut Settings)| {
        let mut settings = settings(world.dir.path());
        change(&mut settings);
        let opened = Tls::open(&settings, watch::channel(None).1, &world.env).await;
        opened.err().expect("it does not start").to_string()
    };
    let other = tempfile::tempdir().unwrap();
    Authority::new("other").leaf("localhost").write(other.path());
    let at = |name: &str| other.path().join(name).to_str().unwrap().to_owned();
    for (change, words) in [
        (
            &(|s: &mut Settings| s.tls_key.clear()) as &dyn Fn(&mut Settings),
            ["edge.tls_cert", "edge.tls_key is not"],
        ),
        (&|s| s.tls_cert.clear(), ["edge.tls_key", "edge.tls_cert is not"]),
        (&|s| s.tls_cert = at("gone.pem"), ["edge.tls_cert", "gone.pem"]),
        (&|s| s.tls_cert = at("key.pem"), ["edge.tls_cert", "holds no certificate"]),
        (&|s| s.tls_key = at("cert.pem"), ["edge.tls_key", "holds no private key"]),
        (&|s| s.tls_key = at("key.pem"), ["edge.tls_cert and edge.tls_key", "together"]),
    ] {
        let text = refused(change).await;
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
    }
    let plain = Tls::open(&Settings::default(), watch::channel(None).1, &world.env).await.unwrap();
    assert!(plain.is_none());
}
