//! `weft access`, `weft secrets` and `weft audit`: over a data folder that no mesh has open.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use super::{expect, weft};
use crate::process;

/// `weft secrets set NAME` with that on standard input; its exit code and what it printed.
async fn set(dir: &Path, name: &str, value: &str, data: &str) -> (i32, String) {
    let file = dir.join("value");
    std::fs::write(&file, value).unwrap();
    let mut command = process::command(&["secrets", "set", name, data]);
    command.stdin(Stdio::from(File::open(&file).unwrap()));
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[tokio::test]
async fn a_principal_is_added_once_listed_given_a_new_token_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let data = format!("--data={}", dir.path().display());
    let added = expect(&["access", "add", "ci", &data], 0, &["Authorization: Bearer", "only now"]).await;
    let token = added.out.trim_end();
    assert!(token.starts_with("weft_") && !token.contains(char::is_whitespace), "{added:?}");
    let file = dir.path().join("access.toml");
    assert!(!std::fs::read_to_string(&file).unwrap().contains(token));
    expect(&["access", "add", "ci", &data], 2, &["weft access rotate ci"]).await;
    expect(&["access", "add", "a/b", &data], 2, &["name"]).await;
    let peer =
        ["access", "add", "north", "--api-key", "--peer", "--capability", "x.y", "--scope", "a2a:read"];
    expect(&[peer.as_slice(), &[&data]].concat(), 0, &["X-API-Key:"]).await;
    expect(&["access", "list", &data], 0, &["ci", "bearer", "north", "api key", "peer", "x.y"]).await;
    let rotated = expect(&["access", "rotate", "ci", "--keep-old", &data], 0, &[]).await;
    assert_ne!(rotated.out, added.out);
    expect(&["access", "list", "--json", &data], 0, &["bearer x2"]).await;
    expect(&["access", "rm", "ci", &data], 0, &["no longer"]).await;
    expect(&["access", "rm", "ci", &data], 1, &["there is no principal ci"]).await;
    let told = expect(&["audit", "export", &data], 0, &["access.add", "access.rotate", "access.rm"]).await;
    assert!(!told.out.contains(token) && !told.out.contains(rotated.out.trim_end()), "{told:?}");
    assert_eq!(told.out.lines().count(), 4);
    let later = weft(&["audit", "export", "--after=3", &data]).await;
    assert_eq!(later.out.lines().count(), 1, "{later:?}");
    expect(&["audit", "check", &data], 0, &["4 events, 1 to 4, sha256:"]).await;
}

#[tokio::test]
async fn a_secret_comes_from_standard_input_and_is_never_shown() {
    let dir = tempfile::tempdir().unwrap();
    let data = format!("--data={}", dir.path().join("data").display());
    let (code, said) = set(dir.path(), "crm", "hunter2\n", &data).await;
    assert_eq!((code, said.contains("hunter2")), (0, false), "{said}");
    let (code, said) = set(dir.path(), "../x", "hunter2\n", &data).await;
    assert_eq!((code, said.contains("hunter2")), (2, false), "{said}");
    assert_eq!(set(dir.path(), "empty", "", &data).await.0, 2);
    let listed = expect(&["secrets", "list", &data], 0, &["crm"]).await;
    assert!(!listed.out.contains("hunter2") && listed.out.lines().count() == 1, "{listed:?}");
    expect(&["secrets", "rotate", &data], 0, &["1 secrets"]).await;
    expect(&["secrets", "rm", "crm", &data], 0, &["taken away"]).await;
    expect(&["secrets", "rm", "crm", &data], 1, &["there is no secret crm"]).await;
    let told = expect(&["audit", "export", &data], 0, &["secret.set", "secret.rotate", "secret.rm"]).await;
    assert!(!told.out.contains("hunter2"));
}

#[tokio::test]
async fn a_record_that_was_tampered_with_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let data = format!("--data={}", dir.path().display());
    for name in ["a", "b", "c"] {
        expect(&["access", "add", name, &data], 0, &[]).await;
    }
    let file = dir.path().join("audit").join(format!("{:020}.jsonl", 1));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"target\":\"a\"", "\"target\":\"x\"")).unwrap();
    expect(&["audit", "check", &data], 5, &["line 2: does not follow"]).await;
}

#[tokio::test]
async fn a_mesh_with_a_secret_in_its_access_file_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("access.toml"), "[[principal]]\nname = \"ci\"\ntoken = \"hunter2\"\n")
        .unwrap();
    let data = format!("--data={}", dir.path().display());
    let ran = expect(
        &["run", "signer", "--listen-signer=127.0.0.1:0", &data],
        5,
        &["access.toml", "principal[0].token", "weft secrets set"],
    )
    .await;
    assert!(!ran.err.contains("hunter2"), "{ran:?}");
}
