//! Security schemes and requirements of a card.

use weft_proto::a2a as v1;
use weft_proto::a2a_v03 as v03;
use weft_proto::{a2a, a2a_v03};

use super::{Downgrade, Upgrade, alike};

alike! {
    ApiKeySecurityScheme { description, location, name }
    HttpAuthSecurityScheme { description, scheme, bearer_format }
    OpenIdConnectSecurityScheme { description, open_id_connect_url }
    MutualTlsSecurityScheme { description }
    ClientCredentialsOAuthFlow { token_url, refresh_url, scopes }
    ImplicitOAuthFlow { authorization_url, refresh_url, scopes }
    PasswordOAuthFlow { token_url, refresh_url, scopes }
}

impl Upgrade for v03::Security {
    type V1 = v1::SecurityRequirement;

    fn upgrade(self) -> v1::SecurityRequirement {
        let schemes =
            self.schemes.into_iter().map(|(name, scopes)| (name, v1::StringList { list: scopes.list }));
        v1::SecurityRequirement { schemes: schemes.collect() }
    }
}

impl Downgrade for v1::SecurityRequirement {
    type V03 = v03::Security;

    fn downgrade(self) -> v03::Security {
        let schemes =
            self.schemes.into_iter().map(|(name, scopes)| (name, v03::StringList { list: scopes.list }));
        v03::Security { schemes: schemes.collect() }
    }
}

impl Upgrade for v03::SecurityScheme {
    type V1 = v1::SecurityScheme;

    fn upgrade(self) -> v1::SecurityScheme {
        use a2a::security_scheme::Scheme;
        use a2a_v03::security_scheme::Scheme as Old;
        let scheme = self.scheme.map(|scheme| match scheme {
            Old::ApiKeySecurityScheme(scheme) => Scheme::ApiKeySecurityScheme(scheme.upgrade()),
            Old::HttpAuthSecurityScheme(scheme) => Scheme::HttpAuthSecurityScheme(scheme.upgrade()),
            Old::Oauth2SecurityScheme(scheme) => Scheme::Oauth2SecurityScheme(scheme.upgrade()),
            Old::OpenIdConnectSecurityScheme(scheme) => Scheme::OpenIdConnectSecurityScheme(scheme.upgrade()),
            Old::MtlsSecurityScheme(scheme) => Scheme::MtlsSecurityScheme(scheme.upgrade()),
        });
        v1::SecurityScheme { scheme }
    }
}

impl Downgrade for v1::SecurityScheme {
    type V03 = v03::SecurityScheme;

    fn downgrade(self) -> v03::SecurityScheme {
        use a2a::security_scheme::Scheme;
        use a2a_v03::security_scheme::Scheme as Old;
        let scheme = self.scheme.map(|scheme| match scheme {
            Scheme::ApiKeySecurityScheme(scheme) => Old::ApiKeySecurityScheme(scheme.downgrade()),
            Scheme::HttpAuthSecurityScheme(scheme) => Old::HttpAuthSecurityScheme(scheme.downgrade()),
            Scheme::Oauth2SecurityScheme(scheme) => Old::Oauth2SecurityScheme(scheme.downgrade()),
            Scheme::OpenIdConnectSecurityScheme(scheme) => {
                Old::OpenIdConnectSecurityScheme(scheme.downgrade())
            }
            Scheme::MtlsSecurityScheme(scheme) => Old::MtlsSecurityScheme(scheme.downgrade()),
        });
        v03::SecurityScheme { scheme }
    }
}

impl Upgrade for v03::OAuth2SecurityScheme {
    type V1 = v1::OAuth2SecurityScheme;

    fn upgrade(self) -> v1::OAuth2SecurityScheme {
        v1::OAuth2SecurityScheme {
            description: self.description,
            flows: self.flows.map(Upgrade::upgrade),
            oauth2_metadata_url: self.oauth2_metadata_url,
        }
    }
}

impl Downgrade for v1::OAuth2SecurityScheme {
    type V03 = v03::OAuth2SecurityScheme;

    fn downgrade(self) -> v03::OAuth2SecurityScheme {
        v03::OAuth2SecurityScheme {
            description: self.description,
            flows: self.flows.map(Downgrade::downgrade),
            oauth2_metadata_url: self.oauth2_metadata_url,
        }
    }
}

#[allow(deprecated, reason = "v0.3 has the flows that v1.0 deprecates")]
impl Upgrade for v03::OAuthFlows {
    type V1 = v1::OAuthFlows;

    fn upgrade(self) -> v1::OAuthFlows {
        use a2a::o_auth_flows::Flow;
        use a2a_v03::o_auth_flows::Flow as Old;
        let flow = self.flow.map(|flow| match flow {
            Old::AuthorizationCode(flow) => Flow::AuthorizationCode(flow.upgrade()),
            Old::ClientCredentials(flow) => Flow::ClientCredentials(flow.upgrade()),
            Old::Implicit(flow) => Flow::Implicit(flow.upgrade()),
            Old::Password(flow) => Flow::Password(flow.upgrade()),
        });
        v1::OAuthFlows { flow }
    }
}

#[allow(deprecated, reason = "v0.3 has the flows that v1.0 deprecates")]
impl Downgrade for v1::OAuthFlows {
    type V03 = v03::OAuthFlows;

    /// v0.3 has no device code flow: nothing is left of it.
    fn downgrade(self) -> v03::OAuthFlows {
        use a2a::o_auth_flows::Flow;
        use a2a_v03::o_auth_flows::Flow as Old;
        let flow = self.flow.and_then(|flow| match flow {
            Flow::AuthorizationCode(flow) => Some(Old::AuthorizationCode(flow.downgrade())),
            Flow::ClientCredentials(flow) => Some(Old::ClientCredentials(flow.downgrade())),
            Flow::Implicit(flow) => Some(Old::Implicit(flow.downgrade())),
            Flow::Password(flow) => Some(Old::Password(flow.downgrade())),
            Flow::DeviceCode(_) => None,
        });
        v03::OAuthFlows { flow }
    }
}

impl Upgrade for v03::AuthorizationCodeOAuthFlow {
    type V1 = v1::AuthorizationCodeOAuthFlow;

    fn upgrade(self) -> v1::AuthorizationCodeOAuthFlow {
        v1::AuthorizationCodeOAuthFlow {
            authorization_url: self.authorization_url,
            token_url: self.token_url,
            refresh_url: self.refresh_url,
            scopes: self.scopes,
            pkce_required: false,
        }
    }
}

impl Downgrade for v1::AuthorizationCodeOAuthFlow {
    type V03 = v03::AuthorizationCodeOAuthFlow;

    fn downgrade(self) -> v03::AuthorizationCodeOAuthFlow {
        v03::AuthorizationCodeOAuthFlow {
            authorization_url: self.authorization_url,
            token_url: self.token_url,
            refresh_url: self.refresh_url,
            scopes: self.scopes,
        }
    }
}
