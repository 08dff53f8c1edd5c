//! Which of a card's interfaces is spoken.

use std::fmt;
use std::str::FromStr;

use weft_proto::a2a::{AgentCard, AgentInterface};

use crate::http::Url;

/// A binding of A2A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// `JSONRPC`.
    JsonRpc,
    /// `HTTP+JSON`.
    Rest,
    /// `GRPC`.
    Grpc,
}

/// A version of A2A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// 1.0.
    V1,
    /// 0.3.
    V03,
}

/// An address at which one binding of one version is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The binding.
    pub binding: Binding,
    /// The version.
    pub version: Version,
    /// Absolute http(s) URL; of gRPC without a path.
    pub url: Url,
    /// Goes into every request; empty: none.
    pub tenant: String,
}

// === impl Binding ===

impl Binding {
    /// As cards write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Binding::JsonRpc => "JSONRPC",
            Binding::Rest => "HTTP+JSON",
            Binding::Grpc => "GRPC",
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Binding {
    type Err = String;

    /// As cards write it, or `jsonrpc`, `rest`, `http_json` and `grpc`, in any case.
    fn from_str(text: &str) -> Result<Binding, String> {
        match text.to_ascii_lowercase().as_str() {
            "jsonrpc" => Ok(Binding::JsonRpc),
            "http+json" | "http_json" | "rest" => Ok(Binding::Rest),
            "grpc" => Ok(Binding::Grpc),
            _ => Err(format!("{text} is no binding: must be jsonrpc, rest or grpc")),
        }
    }
}

// === impl Version ===

impl Version {
    /// As it stands in `A2A-Version`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V1 => "1.0",
            Version::V03 => "0.3",
        }
    }

    /// Patch versions do not count; nor does a version that says nothing.
    fn read(text: &str) -> Option<Version> {
        let mut numbers = text.trim().split('.');
        match (numbers.next()?, numbers.next().unwrap_or("0")) {
            ("1", "0") => Some(Version::V1),
            ("0", "3") => Some(Version::V03),
            _ => None,
        }
    }
}

// === choosing ===

/// The interfaces of a card that can be spoken here, as the card orders them.
pub(crate) fn interfaces(card: &AgentCard, card_url: &Url) -> Vec<Interface> {
    card.supported_interfaces.iter().filter_map(|interface| read(interface, card_url)).collect()
}

fn read(interface: &AgentInterface, card_url: &Url) -> Option<Interface> {
    let binding = interface.protocol_binding.parse().ok()?;
    let version = Version::read(&interface.protocol_version)?;
    let url = address(binding, &interface.url, card_url)?;
    Some(Interface { binding, version, url, tenant: interface.tenant.clone() })
}

/// A gRPC address may be a bare `host:port`; it is then as secure as the card's own address.
fn address(binding: Binding, text: &str, card_url: &Url) -> Option<Url> {
    let url = match (binding, text.split_once("://")) {
        (Binding::Grpc, None) => Url::parse(&format!("{}://{text}", card_url.scheme())),
        (Binding::Grpc, Some(("grpc", rest))) => Url::parse(&format!("http://{rest}")),
        (Binding::Grpc, Some(("grpcs", rest))) => Url::parse(&format!("https://{rest}")),
        _ => card_url.join(text),
    };
    url.ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// The interface to speak: of the bindings in `prefer`, in that order, or of any, in the card's. Version 1.0 goes
/// before 0.3.
pub(crate) fn choose<'a>(
    interfaces: &'a [Interface],
    prefer: &[Binding],
    usable: impl Fn(&Interface) -> bool,
) -> Option<&'a Interface> {
    let rank = |interface: &Interface| match prefer.iter().position(|binding| *binding == interface.binding) {
        None if prefer.is_empty() => Some(0),
        place => place,
    };
    // The first of those that rank alike: `min_by_key` keeps it.
    interfaces
        .iter()
        .filter(|interface| usable(interface))
        .filter_map(|interface| Some(((rank(interface)?, interface.version != Version::V1), interface)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, interface)| interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(entries: &[(&str, &str, &str)]) -> AgentCard {
        let interface = |(binding, version, url): &(&str, &str, &str)| AgentInterface {
            url: (*url).to_owned(),
            protocol_binding: (*binding).to_owned(),
            protocol_version: (*version).to_owned(),
            tenant: String::new(),
        };
        AgentCard { supported_interfaces: entries.iter().map(interface).collect(), ..AgentCard::default() }
    }

    fn chosen(entries: &[(&str, &str, &str)], prefer: &[Binding]) -> Option<String> {
        let at = Url::parse("https://h.example/.well-known/agent-card.json").unwrap();
        let found = interfaces(&card(entries), &at);
        choose(&found, prefer, |_| true).map(|interface| interface.url.to_string())
    }

    const THREE: [(&str, &str, &str); 4] = [
        ("JSONRPC", "0.3", "https://h.example/old"),
        ("HTTP+JSON", "1.0", "https://h.example/rest"),
        ("GRPC", "1.0.1", "h.example:9000"),
        ("JSONRPC", "1.0", "https://h.example/rpc"),
    ];

    #[test]
    fn the_cards_order_decides_unless_the_caller_has_one_and_the_newer_version_goes_first() {
        assert_eq!(chosen(&THREE, &[]).unwrap(), "https://h.example/rest");
        assert_eq!(chosen(&THREE, &[Binding::Grpc, Binding::JsonRpc]).unwrap(), "https://h.example:9000/");
        assert_eq!(chosen(&THREE, &[Binding::JsonRpc]).unwrap(), "https://h.example/rpc");
        assert_eq!(chosen(&THREE[..1], &[]).unwrap(), "https://h.example/old");
        assert_eq!(chosen(&THREE[..2], &[Binding::Grpc]), None);
    }

    #[test]
    fn what_is_not_spoken_here_is_passed_over() {
        let entries = [
            ("SOAP", "1.0", "https://h.example/a"),
            ("JSONRPC", "2.0", "https://h.example/b"),
            ("JSONRPC", "1.0", "ftp://h.example/c"),
            ("jsonrpc", "1.0", "/d"),
        ];
        assert_eq!(chosen(&entries, &[]).unwrap(), "https://h.example/d");
    }

    #[test]
    fn a_bare_grpc_address_is_as_secure_as_the_card() {
        let read = |text: &str, card: &str| {
            address(Binding::Grpc, text, &Url::parse(card).unwrap()).unwrap().to_string()
        };
        assert_eq!(read("localhost:9000", "http://h/card"), "http://localhost:9000/");
        assert_eq!(read("10.0.0.1:9000", "https://h/card"), "https://10.0.0.1:9000/");
        assert_eq!(read("grpcs://x:9000", "http://h/card"), "https://x:9000/");
        assert_eq!(read("grpc://x:9000", "https://h/card"), "http://x:9000/");
        assert_eq!(read("http://x:9000", "https://h/card"), "http://x:9000/");
    }
}
