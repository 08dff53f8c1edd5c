//! The policy, and what becomes of it when its files change.

use tokio_stream::StreamExt as _;
use weft_chassis::{Env, status};
use weft_core::Kind;
use weft_proto::weft::{AccessPolicy, CredentialRequest, WatchAccessRequest};
use weft_signer::{Secrets, Settings, Signer};

use crate::world::{World, digest, settings};

type Policies = tonic::Streaming<AccessPolicy>;

async fn watch(world: &World) -> Policies {
    world.client.clone().watch(WatchAccessRequest {}).await.unwrap().into_inner()
}

async fn next(policies: &mut Policies) -> AccessPolicy {
    policies.next().await.unwrap().unwrap()
}

fn principal(name: &str, token: &str) -> String {
    format!("[[principal]]\nname = \"{name}\"\nbearer = [\"{}\"]\n", digest(token.as_bytes()))
}

#[tokio::test]
async fn a_token_that_is_taken_from_the_file_is_good_no_longer_and_watchers_hear_of_it() {
    let world = World::new(&principal("ci", "one"));
    let mut policies = watch(&world).await;
    let first = next(&mut policies).await;
    assert!(first.credentials && first.schemes.contains_key("bearer"));
    assert!(world.bearer("one").await.is_ok());
    world.write(&principal("ci", "two"));
    let second = next(&mut policies).await;
    assert!(second.version > first.version);
    world.assert_token_refused("one", "TOKEN_UNKNOWN").await;
    assert!(world.bearer("two").await.is_ok());
}

#[tokio::test]
async fn a_file_that_is_wrong_or_gone_changes_nothing() {
    let world = World::new(&principal("ci", "one"));
    let mut policies = watch(&world).await;
    let first = next(&mut policies).await;
    world.write("[[principal]]\nname = \"ci\"\ntoken = \"clear\"\n");
    world.files_refused(1).await;
    std::fs::remove_file(world.data.path().join("access.toml")).unwrap();
    world.files_refused(2).await;
    assert_eq!(world.bearer("one").await.unwrap().principal.unwrap().owner, "p:ci");
    // The next good file is the next policy: nothing of the others was one.
    world.write(&principal("ops", "two"));
    let second = next(&mut policies).await;
    assert!(second.version > first.version);
    assert_eq!(world.bearer("two").await.unwrap().principal.unwrap().owner, "p:ops");
}

#[tokio::test]
async fn without_a_file_nobody_can_prove_anything_until_there_is_one() {
    let world = World::open(tempfile::tempdir().unwrap(), Env::system());
    let mut policies = watch(&world).await;
    assert!(!next(&mut policies).await.credentials);
    world.write(&principal("ci", "one"));
    assert!(next(&mut policies).await.credentials);
}

#[tokio::test]
async fn a_start_with_a_wrong_file_is_refused_and_says_where() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("access.toml");
    std::fs::write(&path, "[[principal]]\nname = \"ci\"\npassword = \"hunter2\"\n").unwrap();
    let problem = Signer::open(&settings(), data.path(), &Env::system()).err().unwrap().to_string();
    for part in [path.to_str().unwrap(), "principal[0].password", "weft secrets set"] {
        assert!(problem.contains(part), "{problem}");
    }
    assert!(!problem.contains("hunter2"));
    let named = Settings { access: data.path().join("gone.toml").display().to_string(), ..settings() };
    let problem = Signer::open(&named, data.path(), &Env::system()).err().unwrap().to_string();
    assert!(problem.contains("gone.toml") && problem.contains("weft access add"), "{problem}");
}

#[tokio::test]
async fn a_token_in_the_secret_store_changes_with_the_secret() {
    let access = "[[principal]]\nname = \"ci\"\nbearer_secret = \"ci-token\"\n";
    let world = World::prepared(access, |data| {
        Secrets::new(data, "").set("ci-token", b"one\n", &Env::system()).unwrap();
    });
    let mut policies = watch(&world).await;
    next(&mut policies).await;
    assert!(world.bearer("one").await.is_ok());
    Secrets::new(world.data.path(), "").set("ci-token", b"two", &world.env).unwrap();
    next(&mut policies).await;
    world.assert_token_refused("one", "TOKEN_UNKNOWN").await;
    assert!(world.bearer("two").await.is_ok());
}

#[tokio::test]
async fn a_secret_is_given_out_by_its_name() {
    let world = World::new("");
    let credential = async |name: &str| {
        let request = CredentialRequest { secret: name.to_owned() };
        let answer = world.client.clone().credential(request).await;
        answer.map(|answer| answer.into_inner().value).map_err(|refused| status::fault(&refused))
    };
    assert_eq!(credential("crm").await.unwrap_err().kind, Kind::NotFound);
    assert_eq!(credential("../keys/mesh.pem").await.unwrap_err().kind, Kind::Invalid);
    Secrets::new(world.data.path(), "").set("crm", b"hunter2", &world.env).unwrap();
    assert_eq!(credential("crm").await.unwrap(), b"hunter2");
}
