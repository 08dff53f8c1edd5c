//! Changes of a file that people write, too.

use super::super::book::{Book, Inputs};
use super::*;

fn new(name: &str) -> New {
    New {
        name: name.to_owned(),
        kind: Kind::Bearer,
        scopes: Vec::new(),
        capabilities: Vec::new(),
        peer: false,
    }
}

fn book(path: &Path) -> Book {
    let text = Some(fs::read_to_string(path).unwrap());
    Book::new(&Inputs { text, ..Inputs::default() }).unwrap()
}

#[test]
fn a_token_is_good_as_soon_as_it_is_told_and_stands_nowhere() {
    let (dir, env) = (tempfile::tempdir().unwrap(), Env::system());
    let path = dir.path().join("access.toml");
    let token = add(&path, &new("ci"), &env).unwrap();
    assert!(token.starts_with("weft_") && token.len() == 48, "{}", token.len());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# Who may call") && !text.contains(token.as_str()), "{text}");
    assert_eq!(book(&path).by_bearer(&token).unwrap().owner, "p:ci");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let peer = New {
        kind: Kind::ApiKey,
        peer: true,
        scopes: vec!["a2a:write".into()],
        capabilities: vec!["x".into()],
        ..new("north")
    };
    let key = add(&path, &peer, &env).unwrap();
    let north = book(&path).by_api_key(&key).unwrap().clone();
    assert!(north.peer && north.scopes == ["a2a:write"] && north.capabilities == ["x"]);
    assert_ne!(*key, *token);
}

#[test]
fn what_people_wrote_stays() {
    let (dir, env) = (tempfile::tempdir().unwrap(), Env::system());
    let path = dir.path().join("access.toml");
    let written = "# ours\n[[principal]]\nname = \"old\" # the first\napi_key  =  [ ]\n\n[anonymous]\ncapabilities = [\"a\"]  # for all\n";
    fs::write(&path, written).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    add(&path, &new("ci"), &env).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for kept in
        ["# ours", "name = \"old\" # the first", "api_key  =  [ ]", "capabilities = [\"a\"]  # for all"]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    remove(&path, "ci", &env).unwrap();
    assert_eq!(book(&path).anonymous, ["a"]);
    assert_eq!(list_of(&path).unwrap().len(), 1);
}

#[test]
fn a_rotation_ends_the_old_token_unless_it_is_to_stay_for_a_while() {
    let (dir, env) = (tempfile::tempdir().unwrap(), Env::system());
    let path = dir.path().join("access.toml");
    let first = add(&path, &new("ci"), &env).unwrap();
    let (kind, second) = rotate(&path, "ci", true, &env).unwrap();
    let known = |token: &str| book(&path).by_bearer(token).is_some();
    assert!(kind == Kind::Bearer && known(&first) && known(&second));
    assert_eq!(list_of(&path).unwrap()[0].proofs, ["bearer x2"]);
    let (_, third) = rotate(&path, "ci", false, &env).unwrap();
    assert!(!known(&first) && !known(&second) && known(&third));
}

#[test]
fn what_cannot_be_done_changes_nothing_and_says_why() {
    let (dir, env) = (tempfile::tempdir().unwrap(), Env::system());
    let path = dir.path().join("access.toml");
    add(&path, &new("ci"), &env).unwrap();
    let before = fs::read_to_string(&path).unwrap();
    assert!(add(&path, &new("ci"), &env).unwrap_err().to_string().contains("weft access rotate ci"));
    assert!(matches!(add(&path, &new("a/b"), &env), Err(EditFault::Invalid(_))));
    assert!(matches!(remove(&path, "gone", &env), Err(EditFault::Unknown(_))));
    assert!(matches!(rotate(&path, "gone", true, &env), Err(EditFault::Unknown(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    fs::write(&path, "[[principal]]\nname = \"ci\"\nsecret = \"hunter2\"\n").unwrap();
    let problem = add(&path, &new("ops"), &env).unwrap_err().to_string();
    assert!(problem.contains("principal[0].secret") && !problem.contains("hunter2"), "{problem}");
    fs::write(&path, "[[principal]]\nname = \"ci\"\nseal = [\"crm\"]\n").unwrap();
    assert!(rotate(&path, "ci", false, &env).unwrap_err().to_string().contains("nothing to rotate"));
}
