//! What an access file means.

use super::*;
use crate::access::policy;

fn hex(text: &str) -> String {
    sha256(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn inputs(text: &str) -> Inputs {
    Inputs {
        text: Some(text.to_owned()),
        secrets: [("kept".to_owned(), sha256(b"kept-token"))].into(),
        authorities: "-----BEGIN CERTIFICATE-----".to_owned(),
    }
}

fn book(text: &str) -> Book {
    Book::new(&inputs(text)).unwrap()
}

#[test]
fn credentials_are_found_by_their_digest_each_in_its_own_kind() {
    let book = book(&format!(
        "[[principal]]\nname = \"ci\"\nbearer = [\"sha256:{}\"]\napi_key = [\"sha256:{}\"]\n\
         [[principal]]\nname = \"ops\"\nbearer_secret = \"kept\"\nscopes = [\"weft:admin\"]\n",
        hex("one"),
        hex("two").to_uppercase(),
    ));
    let ci = book.by_bearer("one").unwrap();
    assert_eq!((ci.owner.as_str(), ci.name.as_str(), ci.peer), ("p:ci", "ci", false));
    assert_eq!(
        (ci.scopes.as_slice(), ci.capabilities.as_slice()),
        (["a2a:read".to_owned(), "a2a:write".to_owned()].as_slice(), ["*".to_owned()].as_slice())
    );
    assert_eq!(book.by_api_key("two").unwrap().owner, "p:ci");
    assert_eq!(book.by_bearer("kept-token").unwrap().scopes, ["weft:admin"]);
    for unknown in ["two", "One", "", "one ", "kept"] {
        assert!(book.by_bearer(unknown).is_none(), "{unknown}");
    }
    assert!(book.by_api_key("one").is_none());
}

#[test]
fn a_peer_gets_little_unless_the_file_says_more() {
    let book = book(
        "[[principal]]\nname = \"north\"\nseal = [\"crm\"]\npeer = true\n\
                     [[principal]]\nname = \"south\"\nseal = [\"lan\"]\npeer = true\ncapabilities = [\"a\"]\n\
                     [principal.allowance]\nmessages_per_minute = 5\n",
    );
    let north = book.by_seal("crm").unwrap();
    let allowance = north.allowance.unwrap();
    assert!(north.peer && north.capabilities.is_empty());
    assert_eq!((allowance.messages_per_minute, allowance.context_turns_max), (60, 100));
    let south = book.by_seal("lan").unwrap();
    assert_eq!(
        (south.capabilities.as_slice(), south.allowance.unwrap().messages_per_minute),
        (["a".to_owned()].as_slice(), 5)
    );
    assert!(book.by_seal("north").is_none());
}

#[test]
fn a_file_that_does_not_fit_names_the_place() {
    let digest = format!("\"sha256:{}\"", hex("one"));
    let check = |text: &str, place: &str| {
        let problem = Book::new(&inputs(text)).unwrap_err();
        assert!(problem.contains(place), "{text}: {problem}");
    };
    check("[[principal]]\n", "principal[0].name");
    check("[[principal]]\nname = \"a/b\"\n", "principal[0].name");
    check("[[principal]]\nname = \"a\"\n[[principal]]\nname = \"a\"\n", "principal[1].name");
    let shared = format!(
        "[[principal]]\nname = \"a\"\nbearer = [{digest}]\n[[principal]]\nname = \"b\"\nbearer = [{digest}]\n"
    );
    check(&shared, "principal[1].bearer[0]");
    check("[[principal]]\nname = \"a\"\nbearer_secret = \"gone\"\n", "weft secrets set gone");
    check("[[principal]]\nname = \"a\"\ncertificate = [\"CN=a\"]\n", "principal[0].certificate[0]");
    check("[[principal]]\nname = \"a\"\ncertificate = [\"san:email:a@b.example\"]\n", "san:dns:NAME");
    check("[[principal]]\nname = \"a\"\nscopes = [\"a b\"]\n", "principal[0].scopes[0]");
    let provider = |rest: &str| format!("[[provider]]\nname = \"corp\"\n{rest}");
    let good = "issuer = \"https://id.example\"\naudience = \"weft\"\n";
    check(&provider(""), "provider[0].audience");
    check(&provider("issuer = \"http://id.example\"\naudience = \"weft\"\n"), "provider[0].issuer");
    check(&provider(&format!("{good}jwks = \"ftp://x\"\n")), "provider[0].jwks");
    check(&provider(&format!("{good}algorithms = [\"HS256\"]\n")), "provider[0].algorithms");
    check(&provider(&format!("{good}algorithms = []\n")), "provider[0].algorithms");
    let other = format!("[[provider]]\nname = \"other\"\n{good}");
    check(&format!("{}{other}", provider(good)), "provider[1]");
    assert!(Book::new(&inputs(&provider(good))).is_ok());
    let unasked = Inputs {
        authorities: String::new(),
        ..inputs("[[principal]]\nname = \"a\"\ncertificate = [\"san:dns:a\"]\n")
    };
    assert!(Book::new(&unasked).unwrap_err().contains("[clients]"));
}

#[test]
fn the_policy_names_every_way_in_and_any_one_suffices() {
    let none = policy::of(&Book::default(), 1);
    assert!(!none.credentials && none.schemes.is_empty() && none.requirements.is_empty());
    let all = policy::of(
        &book(&format!(
            "[[principal]]\nname = \"ci\"\nbearer = [\"sha256:{0}\"]\napi_key = [\"sha256:{0}\"]\n\
             certificate = [\"san:dns:CI.example\"]\n\
             [[provider]]\nname = \"corp\"\nissuer = \"https://id.example/\"\naudience = \"weft\"\n\
             [anonymous]\ncapabilities = [\"sector.movement\"]\nallowance = {{ messages_per_minute = 3 }}\n",
            hex("one")
        )),
        7,
    );
    assert!(all.credentials);
    assert_eq!(all.schemes.keys().collect::<Vec<_>>(), ["apiKey", "bearer", "mtls", "oidc-corp"]);
    assert_eq!(all.requirements.len(), 4);
    assert!(all.requirements.iter().all(|requirement| requirement.schemes.len() == 1));
    let json = serde_json::to_value(&all.schemes["oidc-corp"]).unwrap();
    assert_eq!(
        json["openIdConnectSecurityScheme"]["openIdConnectUrl"],
        "https://id.example/.well-known/openid-configuration"
    );
    assert_eq!(all.anonymous_capabilities, ["sector.movement"]);
    assert_eq!(all.anonymous_allowance.unwrap().messages_per_minute, 3);
    assert_eq!((all.version, all.client_ca_pem.is_empty()), (7, false));
}
