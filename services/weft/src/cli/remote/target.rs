//! From flags, variables and profiles to one mesh and one caller.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use weft_chassis::Outbound;
use weft_client::Credentials;

use super::Remote;
use crate::cli::profile::file::{self, Profile, Profiles};
use crate::cli::profile::secret::{Kind, Reference, Secrets};

/// Where a mesh on this machine listens.
const HERE: &str = "http://127.0.0.1:8420";
/// The variable that holds a token.
const TOKEN: &str = "WEFT_TOKEN";
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// See the module.
pub(super) struct Target {
    pub(super) url: String,
    pub(super) outbound: Outbound,
    pub(super) credentials: Option<Credentials>,
}

impl Target {
    /// A flag beats the profile; a profile's own secret beats `WEFT_TOKEN`, which may be meant for another mesh.
    ///
    /// # Errors
    /// Says what cannot be used, and the remedy.
    pub(super) fn of(remote: &Remote) -> Result<Target, String> {
        let (profile, secrets) = chosen(remote)?;
        let url = match (&remote.url, profile.url.as_str()) {
            (Some(url), "") => url.clone(),
            (Some(url), own) if origin(url) == origin(own) => url.clone(),
            (Some(url), own) => {
                return Err(format!(
                    "--url {url} is not where the profile's mesh is ({own}), and what the profile calls with stays \
                     there: leave one of them out"
                ));
            }
            (None, "") => HERE.to_owned(),
            (None, own) => own.to_owned(),
        };
        let ca = remote.ca.as_ref().or(profile.ca.as_ref());
        let cert = remote.cert.as_ref().or(profile.cert.as_ref());
        let key = remote.key.as_ref().or(profile.key.as_ref());
        let identity = cert.zip(key).map(|(cert, key)| (cert.as_path(), key.as_path()));
        let outbound = Outbound::with_files(ca.map(std::path::PathBuf::as_path), identity)?;
        Ok(Target { credentials: credentials(remote, &profile, &secrets)?, url, outbound })
    }

    /// What the caller should know before a secret leaves.
    pub(super) fn warning(&self) -> Option<String> {
        let uri: http::Uri = self.url.parse().ok()?;
        let host = uri.host()?.trim_matches(['[', ']']);
        let here = host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let bare = self.credentials.is_some() && uri.scheme_str() == Some("http") && !here;
        bare.then(|| format!("weft: {} is not https: who listens on the way sees the token", self.url))
    }
}

/// The profile that counts, an empty one when none does.
fn chosen(remote: &Remote) -> Result<(Profile, Secrets), String> {
    let place = match file::place() {
        Ok(place) => place,
        // Without a home there are no profiles; whoever names one hears it.
        Err(_) if remote.profile.is_none() => return Ok((Profile::default(), Secrets::beside("".as_ref()))),
        Err(problem) => return Err(problem),
    };
    let secrets = Secrets::beside(&place);
    // The one in use stays out when another mesh is named: its secrets are none of that one's business.
    if remote.profile.is_none() && remote.url.is_some() {
        return Ok((Profile::default(), secrets));
    }
    let profiles = Profiles::load(&place)?;
    let profile = match remote.profile.as_ref().or(profiles.in_use.as_ref()) {
        Some(name) => profiles.get(name)?.clone(),
        None => Profile::default(),
    };
    Ok((profile, secrets))
}

fn credentials(remote: &Remote, profile: &Profile, secrets: &Secrets) -> Result<Option<Credentials>, String> {
    let token = match remote.token_file.as_deref().map(Reference::File).or(profile.reference(Kind::Token)) {
        Some(reference) => Some(reference.read(Kind::Token, secrets)?),
        None if profile.reference(Kind::ApiKey).is_none() && std::env::var_os(TOKEN).is_some() => {
            Some(Reference::Env(TOKEN).read(Kind::Token, secrets)?)
        }
        None => None,
    };
    let api_key = match profile.reference(Kind::ApiKey) {
        Some(reference) if remote.token_file.is_none() => Some(reference.read(Kind::ApiKey, secrets)?),
        _ => None,
    };
    let mut headers = HeaderMap::new();
    let secret = |text: &str| {
        let mut value = HeaderValue::from_str(text).map_err(|_| "the secret cannot stand in a header")?;
        value.set_sensitive(true);
        Ok::<_, String>(value)
    };
    if let Some(token) = token {
        headers.insert(header::AUTHORIZATION, secret(&format!("Bearer {token}"))?);
    }
    if let Some(api_key) = api_key {
        headers.insert(API_KEY, secret(&api_key)?);
    }
    Ok((!headers.is_empty()).then(|| {
        Credentials::from_fn(move |_| {
            let headers = headers.clone();
            Box::pin(async move { Ok(headers) })
        })
    }))
}

/// Scheme, host and port; nothing for what is no web address.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: http::Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}
