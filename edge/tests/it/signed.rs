//! Signed cards: when they are signed, over which address, and what happens when the signer is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;
use tonic::{Response, Status, async_trait, service::Routes};
use weft_chassis::{Env, peer};
use weft_edge::Settings;
use weft_proto::a2a::AgentCardSignature;
use weft_proto::weft::signer_server::{Signer, SignerServer};
use weft_proto::weft::{
    JwksRequest, JwksResponse, SignCardRequest, SignCardResponse, SignRequest, SignResponse, Snapshot,
    UnwrapRequest, UnwrapResponse, VerifyRequest, VerifyResponse, WrapRequest, WrapResponse,
};

use crate::world::{World, declared, get, upstreams};

const PATH: &str = "/.well-known/agent-card.json";
const PUBLIC: &str = "https://mesh.example";

/// Signs with a text that shows what was signed.
#[derive(Clone, Default)]
struct Pen(Arc<Ink>);

#[derive(Default)]
struct Ink {
    asked: AtomicUsize,
    away: AtomicBool,
    /// Which key it has.
    key: AtomicUsize,
}

#[async_trait]
impl Signer for Pen {
    async fn sign_card(
        &self,
        request: tonic::Request<SignCardRequest>,
    ) -> Result<Response<SignCardResponse>, Status> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        if self.0.away.load(Ordering::SeqCst) {
            return Err(Status::unavailable("away"));
        }
        let SignCardRequest { card, jku } = request.into_inner();
        let key = self.0.key.load(Ordering::SeqCst);
        let url = card.unwrap().supported_interfaces[0].url.clone();
        let signature =
            AgentCardSignature { protected: jku, signature: format!("{key} {url}"), header: None };
        Ok(Response::new(SignCardResponse { signatures: vec![signature] }))
    }

    async fn jwks(&self, _: tonic::Request<JwksRequest>) -> Result<Response<JwksResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }

    async fn sign(&self, _: tonic::Request<SignRequest>) -> Result<Response<SignResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }

    async fn verify(&self, _: tonic::Request<VerifyRequest>) -> Result<Response<VerifyResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }

    async fn wrap(&self, _: tonic::Request<WrapRequest>) -> Result<Response<WrapResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }

    async fn unwrap(&self, _: tonic::Request<UnwrapRequest>) -> Result<Response<UnwrapResponse>, Status> {
        Err(Status::unimplemented("not asked here"))
    }
}

/// An edge over this signer; the sender changes the catalog.
async fn world(pen: &Pen, settings: Settings) -> (World, watch::Sender<Snapshot>) {
    let script = Arc::default();
    let (catalog, snapshots) = watch::channel(declared());
    let mut upstreams = upstreams(&script, snapshots);
    upstreams.signer = peer::local(Routes::new(SignerServer::new(pen.clone())));
    let bound = "127.0.0.1:8420".parse().unwrap();
    let router = weft_edge::router(settings, bound, &upstreams, &Env::system()).unwrap();
    let world = World::over(router, script);
    world.until(|card| card.status == StatusCode::OK).await;
    (world, catalog)
}

fn pinned() -> Settings {
    Settings { public_url: PUBLIC.into(), ..Settings::default() }
}

async fn signatures(world: &World) -> Value {
    world.get(PATH).await.json()["signatures"].clone()
}

fn by(key: usize) -> Value {
    let jku = format!("{PUBLIC}/.well-known/jwks.json");
    json!([{"protected": jku, "signature": format!("{key} {PUBLIC}/a2a")}])
}

#[tokio::test]
async fn a_card_is_signed_when_its_address_is_pinned_and_says_where_the_keys_are() {
    let pen = Pen::default();
    let (world, _catalog) = world(&pen, pinned()).await;
    assert_eq!(signatures(&world).await, by(0));
    for (name, value) in [("host", "evil.example"), ("x-forwarded-host", "evil.example")] {
        let reply = world.send(Request::get(PATH).header(name, value).body(Body::empty()).unwrap()).await;
        assert!(!reply.text.contains("evil"), "{name}: {}", reply.text);
    }
    assert_eq!(world.get("/.well-known/agent.json").await.json()["signatures"], by(0));
}

#[tokio::test]
async fn a_guessed_address_is_never_signed_and_neither_is_one_when_signing_is_off() {
    for settings in [Settings::default(), Settings { sign_cards: false, ..pinned() }] {
        let pen = Pen::default();
        let (world, _catalog) = world(&pen, settings).await;
        assert_eq!(signatures(&world).await, Value::Null);
        assert_eq!(pen.0.asked.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_card_that_did_not_change_is_not_signed_again() {
    let pen = Pen::default();
    let (world, catalog) = world(&pen, pinned()).await;
    let before = world.get(PATH).await.header("etag").to_owned();
    let asked = pen.0.asked.load(Ordering::SeqCst);
    // Health says nothing on a card; the revision after it shows that the first change was seen.
    catalog.send_modify(|snapshot| snapshot.nodes[0].health = Some(weft_proto::weft::Health::default()));
    for _ in 0..10_000 {
        if world.get("/api/catalog").await.json()["nodes"][0].get("health").is_some() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(pen.0.asked.load(Ordering::SeqCst), asked);
    catalog.send_modify(|snapshot| snapshot.capabilities.truncate(1));
    world.until(|card| card.header("etag") != before).await;
    assert_eq!(pen.0.asked.load(Ordering::SeqCst), asked + 1);
}

#[tokio::test(start_paused = true)]
async fn without_its_signer_the_card_is_served_unsigned_and_signed_as_soon_as_it_is_back() {
    let pen = Pen::default();
    pen.0.away.store(true, Ordering::SeqCst);
    let (world, _catalog) = world(&pen, pinned()).await;
    let unsigned = world.get(PATH).await;
    assert!(unsigned.json().get("signatures").is_none());
    pen.0.away.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(signatures(&world).await, by(0));
    let fresh = get(PATH).header("if-none-match", unsigned.header("etag")).body(Body::empty()).unwrap();
    assert_eq!(
        world.send(fresh).await.status,
        StatusCode::OK,
        "whoever has the unsigned one gets the signed one"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_key_of_the_signer_is_taken_up_and_a_signer_away_then_leaves_the_old_signature() {
    let pen = Pen::default();
    let (world, _catalog) = world(&pen, pinned()).await;
    pen.0.key.store(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(3_601)).await;
    assert_eq!(signatures(&world).await, by(1));
    pen.0.away.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(3_601)).await;
    assert_eq!(signatures(&world).await, by(1));
}
