//! What callers are told about how to prove who they are.

use weft_proto::a2a::security_scheme::Scheme;
use weft_proto::a2a::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, OpenIdConnectSecurityScheme,
    SecurityRequirement, SecurityScheme, StringList,
};
use weft_proto::weft::AccessPolicy;

use super::book::{Book, Provider};
use super::fetch::DISCOVERY;

/// The policy of a book.
pub(super) fn of(book: &Book, version: u64) -> AccessPolicy {
    let mut schemes: Vec<(String, Scheme)> = Vec::new();
    if book.takes_bearers() {
        schemes.push(("bearer".to_owned(), bearer("a token from the operator of this mesh", "")));
    }
    if book.takes_api_keys() {
        let scheme = ApiKeySecurityScheme {
            description: "a key from the operator of this mesh".to_owned(),
            location: "header".to_owned(),
            name: "X-API-Key".to_owned(),
        };
        schemes.push(("apiKey".to_owned(), Scheme::ApiKeySecurityScheme(scheme)));
    }
    schemes.extend(book.providers.iter().map(|p| (format!("oidc-{}", p.name), provider(p))));
    if book.takes_certificates() {
        let description = "a client certificate that the operator of this mesh listed".to_owned();
        schemes
            .push(("mtls".to_owned(), Scheme::MtlsSecurityScheme(MutualTlsSecurityScheme { description })));
    }
    let requirement = |name: &String| SecurityRequirement {
        schemes: [(name.clone(), StringList::default())].into_iter().collect(),
    };
    AccessPolicy {
        credentials: book.has_credentials(),
        requirements: schemes.iter().map(|(name, _)| requirement(name)).collect(),
        schemes: schemes
            .into_iter()
            .map(|(name, scheme)| (name, SecurityScheme { scheme: Some(scheme) }))
            .collect(),
        anonymous_capabilities: book.anonymous.clone(),
        anonymous_allowance: Some(book.anonymous_allowance),
        client_ca_pem: book.authorities.clone(),
        version,
    }
}

/// A provider that describes itself is named by its description; one whose keys lie elsewhere need not have one.
fn provider(provider: &Provider) -> Scheme {
    if provider.place.jwks.is_some() {
        return bearer(&format!("a token of {}", provider.place.issuer), "JWT");
    }
    Scheme::OpenIdConnectSecurityScheme(OpenIdConnectSecurityScheme {
        description: format!("a token of {}", provider.place.issuer),
        open_id_connect_url: format!("{}{DISCOVERY}", provider.place.issuer.trim_end_matches('/')),
    })
}

fn bearer(description: &str, format: &str) -> Scheme {
    Scheme::HttpAuthSecurityScheme(HttpAuthSecurityScheme {
        description: description.to_owned(),
        scheme: "bearer".to_owned(),
        bearer_format: format.to_owned(),
    })
}
