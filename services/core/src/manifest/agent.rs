//! `[agent]`: the remote A2A agent that stands behind a node.

use std::time::Duration;

use super::node::is_http;
use super::reader::Reader;

/// Most entries of `card_keys` and of `origins`.
const LIST_MAX: usize = 16;

/// A remote agent. Its addresses are an operator's: they may be private ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its base address, or the address of its card, which ends in `.json`. Absolute http or https URL.
    pub url: String,
    /// The binding to speak; unset: the one its card puts first.
    pub binding: Option<Binding>,
    /// Goes into every request instead of what the card says; unset: the card decides.
    pub tenant: Option<String>,
    /// Whose signature its card must bear; empty: the card needs none.
    pub card_keys: Vec<CardKey>,
    /// Where its card may send callers, besides the host of `url`: `scheme://host[:port]`.
    pub origins: Vec<String>,
    /// How long it may take to begin an answer. Default 60 s.
    pub timeout: Duration,
}

/// A binding of A2A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC.
    JsonRpc,
    /// HTTP+JSON.
    Rest,
    /// gRPC.
    Grpc,
}

/// What a card's signature is checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardKey {
    /// A public key (RFC 7517), as JSON text.
    Jwk(String),
    /// An origin whose key sets count.
    At(String),
}

/// Reads `[agent]`; nothing when it is not there.
pub(super) fn read(root: &Reader<'_>) -> Option<Agent> {
    let section = root.table("agent")?;
    let remedy = "must be an absolute http:// or https:// URL without user, query or fragment: the agent's base \
                  address, or that of its card, which ends in .json";
    let url = section.required("url", 2_048, remedy);
    if !url.is_empty() && !is_http(&url) {
        section.wrong("url", format!("\"{url}\""), remedy);
    }
    let agent = Agent {
        url,
        binding: binding(&section),
        tenant: Some(section.text("tenant", 200)).filter(|tenant| !tenant.is_empty()),
        card_keys: section
            .texts("card_keys", LIST_MAX, 2_048)
            .into_iter()
            .filter_map(|key| card_key(&section, key))
            .collect(),
        origins: section.texts("origins", LIST_MAX, 2_048),
        timeout: Duration::from_millis(section.number("timeout_ms", 60_000, 100..=3_600_000)),
    };
    for origin in agent.origins.iter().filter(|origin| !is_origin(origin)) {
        section.wrong("origins", format!("\"{origin}\""), "must be like https://host or https://host:port");
    }
    section.finish();
    Some(agent)
}

fn binding(section: &Reader<'_>) -> Option<Binding> {
    match section.text("binding", 32).as_str() {
        "" => None,
        "jsonrpc" => Some(Binding::JsonRpc),
        "rest" => Some(Binding::Rest),
        "grpc" => Some(Binding::Grpc),
        other => {
            let remedy = "must be jsonrpc, rest or grpc, or be left out for what the agent's card puts first";
            section.wrong("binding", format!("\"{other}\""), remedy);
            None
        }
    }
}

fn card_key(section: &Reader<'_>, text: String) -> Option<CardKey> {
    if is_origin(&text) {
        return Some(CardKey::At(text));
    }
    let jwk = serde_json::from_str::<serde_json::Value>(&text).ok();
    match jwk.as_ref().and_then(|jwk| jwk.as_object()) {
        // A secret is not repeated, not even clipped.
        Some(jwk) if jwk.contains_key("d") => {
            section.wrong("card_keys", "a private key", "must hold public keys only: remove the member d");
            None
        }
        Some(jwk) if jwk.contains_key("kty") => Some(CardKey::Jwk(text)),
        _ => {
            let remedy = "must be a public key as JWK, or https://host[:port] where the agent's key set lies";
            section.wrong("card_keys", format!("\"{text}\""), remedy);
            None
        }
    }
}

/// `http(s)://host[:port]`, perhaps with a slash at the end.
fn is_origin(text: &str) -> bool {
    is_http(text) && text.trim_end_matches('/').matches('/').count() == 2
}

#[cfg(test)]
mod tests {
    use super::super::{Manifest, Source};
    use super::*;

    const KEY: &str =
        r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"k"}"#;

    fn text(agent: &str, source: &str) -> String {
        format!(
            "[node]\nid = \"far\"\nname = \"Far\"\nrole = \"a remote agent\"\n\n{agent}\n\n[[tool]]\n\
             name = \"far.ask\"\ndescription = \"asks it\"\nsource = {source}\n"
        )
    }

    fn problems(agent: &str, source: &str) -> String {
        Manifest::parse("far.toml", &text(agent, source)).unwrap_err().to_string()
    }

    #[test]
    fn a_remote_agent_needs_no_more_than_an_address() {
        let text = text("[agent]\nurl = \"https://agent.example/base\"", "{ kind = \"a2a\" }");
        let manifest = Manifest::parse("far.toml", &text).unwrap();
        let agent = manifest.agent.unwrap();
        assert_eq!(
            (agent.url.as_str(), agent.binding, agent.tenant),
            ("https://agent.example/base", None, None)
        );
        assert!(agent.card_keys.is_empty() && agent.origins.is_empty());
        assert_eq!(agent.timeout, Duration::from_secs(60));
        assert!(manifest.node.agent_backed, "an agent stands behind it");
        let tool = &manifest.tools[0];
        assert_eq!((&tool.source, tool.fields.len()), (&Source::A2a { skill: None }, 0));
        assert_eq!((tool.timeout, tool.bytes_max), (Duration::from_secs(600), 16 * 1024 * 1024));
    }

    #[test]
    fn every_key_of_it_is_read() {
        let agent = format!(
            "[agent]\nurl = \"http://10.0.0.7:8420\"\nbinding = \"grpc\"\ntenant = \"crm\"\ntimeout_ms = 500\n\
             origins = [\"http://10.0.0.8:9000\"]\ncard_keys = ['{KEY}', \"https://keys.example\"]"
        );
        let manifest =
            Manifest::parse("far.toml", &text(&agent, "{ kind = \"a2a\", skill = \"crm.customers\" }"))
                .unwrap();
        assert_eq!(manifest.tools[0].source, Source::A2a { skill: Some("crm.customers".into()) });
        let agent = manifest.agent.unwrap();
        assert_eq!((agent.binding, agent.tenant.as_deref()), (Some(Binding::Grpc), Some("crm")));
        assert_eq!(agent.origins, ["http://10.0.0.8:9000"], "an operator may name a private address");
        let keys = [CardKey::Jwk(KEY.into()), CardKey::At("https://keys.example".into())];
        assert_eq!((agent.card_keys.as_slice(), agent.timeout), (&keys[..], Duration::from_millis(500)));
    }

    #[test]
    fn what_is_wrong_names_the_field_and_the_remedy() {
        let a2a = "{ kind = \"a2a\" }";
        for url in
            ["agent.example", "ftp://agent.example", "https://u:p@agent.example", "https://a.example/?q=1"]
        {
            let said = problems(&format!("[agent]\nurl = \"{url}\""), a2a);
            assert!(said.contains(&format!("`agent.url` is \"{url}\"")), "{said}");
            assert!(said.contains("must be an absolute http:// or https:// URL"), "{said}");
        }
        assert!(problems("[agent]\nbinding = \"grpc\"", a2a).contains("`agent.url` is missing: must be"));
        let url = "url = \"https://a.example\"";
        for (line, key, remedy) in [
            ("binding = \"soap\"", "`agent.binding`", "must be jsonrpc, rest or grpc"),
            ("origins = [\"https://b.example/path\"]", "`agent.origins`", "https://host:port"),
            ("card_keys = [\"nonsense\"]", "`agent.card_keys`", "a public key as JWK"),
            ("timeout_ms = 5", "`agent.timeout_ms`", "from 100 to 3600000"),
            ("adress = \"x\"", "`agent.adress`", "not a known key"),
        ] {
            let said = problems(&format!("[agent]\n{url}\n{line}"), a2a);
            assert!(said.contains(key) && said.contains(remedy), "{said}");
        }
    }

    #[test]
    fn a_private_key_is_refused_without_repeating_it() {
        let said = problems(
            "[agent]\nurl = \"https://a.example\"\ncard_keys = ['{\"kty\":\"OKP\",\"d\":\"s3cret\"}']",
            "{ kind = \"a2a\" }",
        );
        assert!(said.contains("`agent.card_keys`") && !said.contains("s3cret"), "{said}");
    }

    #[test]
    fn an_agent_and_the_tools_that_forward_to_it_need_one_another() {
        assert!(problems("", "{ kind = \"a2a\" }").contains("`agent` is missing"));
        let said =
            problems("[agent]\nurl = \"https://a.example\"", "{ kind = \"network\", table = \"dns\" }");
        assert!(said.contains("`agent` is declared: no tool forwards to it"), "{said}");
        let rows = text("[agent]\nurl = \"https://a.example\"", "{ kind = \"a2a\" }\nfields = [\"x\"]");
        let said = Manifest::parse("far.toml", &rows).unwrap_err().to_string();
        assert!(said.contains("answers no rows: remove it"), "{said}");
    }
}
