//! What the edge serves, and the interfaces that a card names for it.

use weft_proto::a2a::AgentInterface;

/// Version of the protocol that the first interfaces speak.
pub const PROTOCOL_VERSION: &str = "1.0";
/// The version before it.
const LEGACY_VERSION: &str = "0.3";

/// How the mesh is reached from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Public {
    /// Absolute base URL without a trailing slash.
    pub base: String,
    /// What an operator should mend, one sentence each.
    pub warnings: Vec<String>,
}

/// What the edge serves beside A2A v1.0 over JSON-RPC and HTTP+JSON; a card says no more than this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faces {
    /// Streams.
    pub streaming: bool,
    /// Push notifications.
    pub push_notifications: bool,
    /// An extended card exists.
    pub extended_card: bool,
    /// `host:port` of the gRPC binding; `None`: it is not served, or nobody can say where it is reached.
    pub grpc: Option<String>,
    /// A2A v0.3, on the same bindings.
    pub v03: bool,
    /// The served card has the top-level fields of v0.3 too.
    pub legacy_card: bool,
}

// === impl Public ===

impl Public {
    /// Where the public keys of the mesh are found.
    #[must_use]
    pub fn jwks_url(&self) -> String {
        format!("{}/.well-known/jwks.json", self.base)
    }

    /// Where an agent's card is found; empty: the mesh's.
    #[must_use]
    pub fn card_url(&self, tenant: &str) -> String {
        match tenant {
            "" => format!("{}/.well-known/agent-card.json", self.base),
            node => format!("{}/agents/{node}/.well-known/agent-card.json", self.base),
        }
    }

    /// `host:port` of the base URL, the scheme's own port when it names none; `None` when it is no http(s) URL.
    #[must_use]
    pub fn authority(&self) -> Option<String> {
        let (scheme, rest) = self.base.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
        let port = match scheme {
            "https" => "443",
            "http" => "80",
            _ => return None,
        };
        // What stands after the last colon is a port, unless the colon is one within an IPv6 address.
        let named =
            authority.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
        Some(if named { authority.to_owned() } else { format!("{authority}:{port}") })
    }
}

// === impl Faces ===

impl Faces {
    /// The interfaces of one agent, most preferred first: every v1.0 one before any v0.3 one, for a client takes the
    /// first entry of a binding that it speaks.
    pub(super) fn interfaces(&self, tenant: &str, public: &Public) -> Vec<AgentInterface> {
        let base = &public.base;
        let interface = |url: String, binding: &str, version: &str, tenant: &str| AgentInterface {
            url,
            protocol_binding: binding.to_owned(),
            protocol_version: version.to_owned(),
            tenant: tenant.to_owned(),
        };
        let rpc =
            if tenant.is_empty() { format!("{base}/a2a") } else { format!("{base}/agents/{tenant}/a2a") };
        let mut all = vec![
            interface(rpc.clone(), "JSONRPC", PROTOCOL_VERSION, tenant),
            // The tenant is a segment of the path there, which clients put behind this URL.
            interface(format!("{base}/rest"), "HTTP+JSON", PROTOCOL_VERSION, tenant),
        ];
        all.extend(self.grpc.iter().map(|at| interface(at.clone(), "GRPC", PROTOCOL_VERSION, tenant)));
        if self.v03 {
            all.push(interface(rpc, "JSONRPC", LEGACY_VERSION, ""));
        }
        // v0.3 knows no tenants, and beyond JSON-RPC a node has no address of its own.
        if self.v03 && tenant.is_empty() {
            all.push(interface(format!("{base}/rest"), "HTTP+JSON", LEGACY_VERSION, ""));
            all.extend(self.grpc.iter().map(|at| interface(at.clone(), "GRPC", LEGACY_VERSION, "")));
        }
        all
    }
}
