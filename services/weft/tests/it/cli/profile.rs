//! `weft profile`, and what the client commands make of profiles, flags and variables.

#[path = "../../../../../edge/src/tls/tests/certs.rs"]
mod certs;
mod fakes;
mod home;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::Ran;
use crate::process::Deployment;
use crate::world::Form;
use certs::Authority;
use fakes::{Fake, mutual};
use home::Home;

fn shown(authorization: &str, api_key: &str) -> (String, String) {
    (authorization.to_owned(), api_key.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mesh_behind_its_own_authority_is_reached_by_profile_and_by_flags() {
    let home = Home::new();
    let authority = Authority::new("mesh");
    authority.leaf("localhost").write(home.dir.path());
    let ca = home.write("ca.pem", &authority.pem());
    let (cert, key) = (home.file("cert.pem"), home.file("key.pem"));
    let cert = format!("--edge-tls-cert={}", cert.display());
    let key = format!("--edge-tls-key={}", key.display());
    let mut mesh = Deployment::start(Form::Together, home.dir.path(), &[&cert, &key], &[]).await;
    let url = mesh.client.base.replace("http://", "https://");
    let url = url.as_str();

    home.expect(&["card", "--url", url], &[], 3, &["--ca", "authority"]).await;
    home.expect(&["card", "--url", url, "--ca", &ca], &[], 0, &["Test mesh", url]).await;
    home.expect(&["card", "--url", &mesh.client.base], &[], 1, &["this port speaks https"]).await;
    let add = ["profile", "add", "work", "--url", url, "--ca", &ca];
    home.expect(&add, &[], 0, &["work is used from now on"]).await;
    home.expect(&["card"], &[], 0, &["Test mesh"]).await;
    for binding in ["jsonrpc", "rest", "grpc"] {
        home.expect(&["send", "echo hello", "--binding", binding], &[], 0, &["completed", "hello"]).await;
    }
    home.expect(&["stream", "echo by name", "--profile=work"], &[], 0, &["completed", "by name"]).await;
    home.expect(&["tasks", "list"], &[("WEFT_PROFILE", "work")], 0, &["4 of 4"]).await;
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_goes_to_the_mesh_of_its_profile_and_to_no_other() {
    let (home, fake, other) = (Home::new(), Fake::start().await, Fake::start().await);
    let get = ["tasks", "get", "t1"];
    let at = |fake: &Fake| format!("--url={}", fake.url);
    let file = home.write("token", "from-file\n");
    let file_flag = format!("--token-file={file}");
    let env = [("WEFT_TOKEN", "from-env")];

    let with = |more: &[&str]| {
        get.iter().copied().chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let call = async |more: &[&str], env: &[(&str, &str)]| {
        let args = with(more);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        home.expect(&args, env, 0, &["t1"]).await;
    };
    call(&[&at(&fake)], &[]).await;
    assert_eq!(fake.last(), shown("", ""));
    call(&[&at(&fake)], &env).await;
    assert_eq!(fake.last(), shown("Bearer from-env", ""));
    call(&[&at(&fake), &file_flag], &env).await;
    assert_eq!(fake.last(), shown("Bearer from-file", ""));

    let add = ["profile", "add", "work", "--url", &fake.url, "--token-stdin"];
    home.expect_of(&add, &[], "s3cret\n", 0, &[]).await;
    assert_eq!((home.mode("weft/secrets/work.token"), home.mode("weft/profiles.toml")), (0o600, 0o600));
    let text = std::fs::read_to_string(home.file("weft/profiles.toml")).unwrap();
    assert!(text.contains("token_secret = \"work\"") && !text.contains("s3cret"), "{text}");
    call(&[], &env).await;
    assert_eq!(fake.last(), shown("Bearer s3cret", ""), "the profile's own beats the variable");
    call(&[&file_flag], &[]).await;
    assert_eq!(fake.last(), shown("Bearer from-file", ""), "a flag beats the profile");

    call(&[&at(&other)], &[]).await;
    assert_eq!(other.last(), shown("", ""), "another mesh is not shown it");
    let named = with(&[&at(&other), "--profile=work"]);
    let named: Vec<_> = named.iter().map(String::as_str).collect();
    home.expect(&named, &[], 2, &["--url", &fake.url, "leave one of them out"]).await;
    call(&[&format!("--url={}/", fake.url), "--profile=work"], &[]).await;
    assert_eq!(fake.last(), shown("Bearer s3cret", ""));

    let add = ["profile", "add", "keyed", "--url", &other.url, "--api-key-env", "THE_KEY", "--use"];
    home.expect(&add, &[], 0, &[]).await;
    call(&[], &[("THE_KEY", "k-1"), env[0]]).await;
    assert_eq!(other.last(), shown("", "k-1"), "the variable may be meant for another mesh");
    home.expect(&get, &[], 2, &["api-key", "THE_KEY", "not set"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_caller_says_what_to_do() {
    let (home, fake) = (Home::new(), Fake::start().await);
    let at = format!("--url={}", fake.url);
    let get = ["tasks", "get", "t1", &at];
    let words = ["-32052", "--token-file", "WEFT_TOKEN", "weft profile add", "weft access add"];
    home.expect(&get, &[("WEFT_TOKEN", "unknown")], 1, &words).await;
    home.expect(&get, &[("WEFT_TOKEN", "weak")], 1, &["-32053", "scopes and capabilities", "--profile"])
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_listed_shown_changed_and_forgotten() {
    let home = Home::new();
    let add = async |name: &str, more: &[&str], input: &str| {
        let args: Vec<_> = ["profile", "add", name].iter().chain(more).copied().collect();
        home.expect_of(&args, &[], input, 0, &[]).await;
    };
    add("a", &["--url=https://a.example", "--token-stdin"], "s3cret").await;
    add("b", &["--url=https://b.example/mesh", "--api-key-stdin"], "s3cret\n").await;
    let listed = home.expect(&["profile", "list"], &[], 0, &[]).await;
    assert_eq!(listed.out, "* a  https://a.example\n  b  https://b.example/mesh\n");
    home.expect(&["profile", "use", "b"], &[], 0, &[]).await;
    let listed = home.expect(&["profile", "list", "--json"], &[], 0, &[]).await;
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!((&listed[0]["use"], &listed[1]["use"]), (&json!(false), &json!(true)));
    home.expect(&["profile", "show", "a"], &[], 0, &["https://a.example", "token_secret"]).await;
    let shown = home.expect(&["profile", "show", "b", "--json"], &[], 0, &[]).await;
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(shown, json!({ "url": "https://b.example/mesh", "api_key_secret": "b" }));

    add("a", &["--url=https://a.example", "--token-env=A_TOKEN"], "").await;
    assert!(!home.file("weft/secrets/a.token").exists(), "what is no longer named is not kept");
    home.expect(&["profile", "show", "a"], &[], 0, &["not there", "A_TOKEN"]).await;
    home.expect(&["profile", "rm", "b"], &[], 0, &[]).await;
    assert!(!home.file("weft/secrets/b.api-key").exists());
    let listed = home.expect(&["profile", "list"], &[], 0, &[]).await;
    assert_eq!(listed.out, "  a  https://a.example\n");
    for args in [["profile", "rm", "b"], ["profile", "use", "b"], ["profile", "show", "b"]] {
        home.expect(&args, &[], 2, &["`b`", "a", "weft profile add"]).await;
    }
    home.expect(&["card", "--profile=b"], &[], 2, &["`b`"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_kept_or_used_is_refused_with_the_remedy() {
    let home = Home::new();
    let remedy = ["--token-stdin", "token_file"];
    std::fs::create_dir(home.file("weft")).unwrap();
    let url = "url = \"https://a.example\"";
    for key in ["token", "bearer", "api_key", "Password"] {
        home.write("weft/profiles.toml", &format!("[profile.work]\n{url}\n{key} = \"s3cret\"\n"));
        let words = [format!("profile.work.{key}"), "plain text".to_owned()];
        let words: Vec<_> = words.iter().map(String::as_str).chain(remedy).collect();
        for command in [&["card"][..], &["profile", "list"]] {
            home.expect(command, &[], 2, &words).await;
        }
    }
    for (text, words) in [
        (format!("[profile.work]\n{url}\ntoken = s3cret\n"), ["profiles.toml", "not valid TOML"]),
        (format!("[profile.work]\n{url}\nspeed = 1\n"), ["profiles.toml", "speed"]),
        ("[profile.work]\nurl = \"https://u:s3cret@a.example\"".to_owned(), ["profile.work.url", "password"]),
        (format!("[profile.work]\n{url}\ncert = \"c\"\n"), ["profile.work", "cert and key"]),
        (
            format!("[profile.work]\n{url}\ntoken_env = \"A\"\ntoken_file = \"f\"\n"),
            ["profile.work", "token_env"],
        ),
        (format!("[profile.\"../x\"]\n{url}\n"), ["../x", "1 to 64 letters"]),
    ] {
        home.write("weft/profiles.toml", &text);
        home.expect(&["card"], &[], 2, &words).await;
    }
    std::fs::remove_file(home.file("weft/profiles.toml")).unwrap();
    home.expect(&["profile", "add", "../x", "--url=https://a.example"], &[], 2, &["1 to 64 letters"]).await;
    home.expect(&["profile", "add", "x", "--url=a.example"], &[], 2, &["profile.x.url"]).await;
    let empty = ["profile", "add", "x", "--url=https://a.example", "--token-stdin"];
    home.expect(&empty, &[], 2, &["standard input must be the token alone"]).await;
    home.expect_of(&empty, &[], "two words s3cret", 2, &["one line"]).await;

    home.expect_of(&empty, &[], "s3cret", 0, &[]).await;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(home.file("weft/secrets/x.token"), open).unwrap();
    home.expect(&["card"], &[], 2, &["x.token", "chmod 600"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_shows_who_calls() {
    let (home, authority) = (Home::new(), Authority::new("mesh"));
    let clients = Authority::new("clients");
    let at = mutual(&authority, &clients).await;
    let (url, ca) = (format!("https://{at}"), home.write("ca.pem", &authority.pem()));
    clients.leaf("ci.example").write(home.dir.path());
    let (cert, key) = (home.file("cert.pem"), home.file("key.pem"));
    let (cert, key) = (cert.to_str().unwrap(), key.to_str().unwrap());

    let bare = home.run(&["card", "--url", &url, "--ca", &ca], &[], "").await;
    assert_eq!(bare.code, 3, "{bare:?}");
    let flags = ["card", "--url", &url, "--ca", &ca, "--cert", cert, "--key", key];
    home.expect(&flags, &[], 0, &["fake"]).await;
    home.expect(&flags[..7], &[], 2, &["--key"]).await;
    let add = ["profile", "add", "ci", "--url", &url, "--ca", &ca, "--cert", cert, "--key", key];
    home.expect(&add, &[], 0, &[]).await;
    home.expect(&["card", "--profile=ci"], &[], 0, &["fake"]).await;
}
