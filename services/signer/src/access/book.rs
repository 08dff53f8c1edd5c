//! The access file in the form in which it is asked: who has this digest, this name, this seal.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use weft_core::{Owner, scope};
use weft_proto::weft as pb;

use super::certificate;
use super::fetch::{self, Place};
use super::file::{self, File};
use super::token::Algorithm;

/// What a peer may do when the file does not say it: messages a minute, messages of a context.
const PEER_MESSAGES: u32 = 60;
const PEER_TURNS: u32 = 100;
const ALL: &str = "*";

/// What the file, the secrets that it names and the authorities beside it say. Two equal ones mean the same policy.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inputs {
    /// Text of the access file; nothing when there is none.
    pub(super) text: Option<String>,
    /// Digests of the secrets that it names.
    pub(super) secrets: BTreeMap<String, [u8; 32]>,
    /// Certificate authorities of clients, PEM.
    pub(super) authorities: String,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Book {
    principals: Vec<Arc<pb::Principal>>,
    bearers: Digests,
    api_keys: Digests,
    certificates: Digests,
    names: BTreeMap<String, usize>,
    seals: BTreeMap<String, usize>,
    pub(super) providers: Vec<Provider>,
    pub(super) anonymous: Vec<String>,
    pub(super) anonymous_allowance: pb::Allowance,
    pub(super) authorities: String,
}

/// One identity provider.
#[derive(Debug, Clone)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) audience: String,
    pub(super) algorithms: Vec<Algorithm>,
    pub(super) scopes: Vec<String>,
    pub(super) scopes_claim: Option<String>,
    pub(super) capabilities: Vec<String>,
    pub(super) allowance: pb::Allowance,
}

/// Whose digest it is. Looked up by the digest, which nobody can choose who does not know the secret; compared in
/// constant time all the same.
#[derive(Debug, Default)]
struct Digests(BTreeMap<[u8; 32], usize>);

// === impl Digests ===

impl Digests {
    fn find(&self, digest: &[u8; 32]) -> Option<usize> {
        let (kept, owner) = self.0.range(*digest..).next()?;
        bool::from(kept.ct_eq(digest)).then_some(*owner)
    }

    fn add(&mut self, digest: [u8; 32], owner: usize) -> Result<(), String> {
        taken(self.0.entry(digest), owner)
    }
}

// === impl Book ===

impl Book {
    /// # Errors
    /// Names the field and the remedy, never a secret.
    pub(super) fn new(inputs: &Inputs) -> Result<Book, String> {
        let file = inputs.text.as_deref().map(File::parse).transpose()?.unwrap_or_default();
        let mut book = Book {
            anonymous: capabilities("anonymous.capabilities", file.anonymous.capabilities)?,
            anonymous_allowance: allowance(file.anonymous.allowance.as_ref(), false),
            authorities: inputs.authorities.clone(),
            ..Book::default()
        };
        for (at, entry) in file.principal.into_iter().enumerate() {
            book.add(&format!("principal[{at}]"), entry, &inputs.secrets)?;
        }
        for (at, entry) in file.provider.into_iter().enumerate() {
            let provider = Provider::new(&format!("provider[{at}]"), entry)?;
            let same = |other: &Provider| {
                other.name == provider.name
                    || (other.place.issuer == provider.place.issuer && other.audience == provider.audience)
            };
            if book.providers.iter().any(same) {
                return Err(format!(
                    "provider[{at}]: another one has this name, or this issuer and audience"
                ));
            }
            book.providers.push(provider);
        }
        Ok(book)
    }

    fn add(
        &mut self,
        place: &str,
        entry: file::Principal,
        secrets: &BTreeMap<String, [u8; 32]>,
    ) -> Result<(), String> {
        let owner = Owner::principal(&entry.name)
            .map_err(|fault| format!("{place}.name: {}", fault.violations[0].description))?;
        if self.principals.iter().any(|other| other.name == entry.name) {
            return Err(format!("{place}.name: another principal is called {}", entry.name));
        }
        let at = self.principals.len();
        let within = |field: &'static str, index: usize| {
            move |problem: String| format!("{place}.{field}[{index}]: {problem}")
        };
        for (index, text) in entry.bearer.iter().enumerate() {
            file::digest(text)
                .and_then(|digest| self.bearers.add(digest, at))
                .map_err(within("bearer", index))?;
        }
        for (index, text) in entry.api_key.iter().enumerate() {
            file::digest(text)
                .and_then(|digest| self.api_keys.add(digest, at))
                .map_err(within("api_key", index))?;
        }
        if let Some(name) = &entry.bearer_secret {
            let digest = secrets.get(name).ok_or_else(|| {
                format!("{place}.bearer_secret: there is no secret {name}: `weft secrets set {name}`")
            })?;
            self.bearers.add(*digest, at).map_err(|problem| format!("{place}.bearer_secret: {problem}"))?;
        }
        for (index, text) in entry.certificate.iter().enumerate() {
            self.add_certificate(text, at).map_err(within("certificate", index))?;
        }
        if !entry.certificate.is_empty() && self.authorities.is_empty() {
            return Err(format!(
                "{place}.certificate: no client is asked for one: name the authorities as ca in [clients]"
            ));
        }
        for (index, node) in entry.seal.iter().enumerate() {
            taken(self.seals.entry(node.clone()), at).map_err(within("seal", index))?;
        }
        let usual = if entry.peer { Vec::new() } else { vec![ALL.to_owned()] };
        let principal = pb::Principal {
            owner: owner.as_str().to_owned(),
            name: entry.name,
            method: 0,
            scopes: match entry.scopes {
                Some(given) => scopes(&format!("{place}.scopes"), given)?,
                None => vec![scope::READ.to_owned(), scope::WRITE.to_owned()],
            },
            capabilities: capabilities(
                &format!("{place}.capabilities"),
                entry.capabilities.unwrap_or(usual),
            )?,
            allowance: Some(allowance(entry.allowance.as_ref(), entry.peer)),
            peer: entry.peer,
        };
        self.principals.push(Arc::new(principal));
        Ok(())
    }

    fn add_certificate(&mut self, text: &str, at: usize) -> Result<(), String> {
        if let Some(name) = text.strip_prefix("san:") {
            let name = certificate::name(name).ok_or("must be san:dns:NAME or san:uri:URI")?;
            return taken(self.names.entry(name), at);
        }
        self.certificates.add(file::digest(text).map_err(|must| format!("{must}, or san:…"))?, at)
    }

    /// True when anybody at all can prove who they are.
    pub(super) fn has_credentials(&self) -> bool {
        self.takes_bearers()
            || self.takes_api_keys()
            || self.takes_certificates()
            || !self.seals.is_empty()
            || !self.providers.is_empty()
    }

    pub(super) fn takes_bearers(&self) -> bool {
        !self.bearers.0.is_empty()
    }

    pub(super) fn takes_api_keys(&self) -> bool {
        !self.api_keys.0.is_empty()
    }

    pub(super) fn takes_certificates(&self) -> bool {
        !self.certificates.0.is_empty() || !self.names.is_empty()
    }

    pub(super) fn by_bearer(&self, token: &str) -> Option<&Arc<pb::Principal>> {
        self.bearers.find(&sha256(token.as_bytes())).map(|at| &self.principals[at])
    }

    pub(super) fn by_api_key(&self, key: &str) -> Option<&Arc<pb::Principal>> {
        self.api_keys.find(&sha256(key.as_bytes())).map(|at| &self.principals[at])
    }

    /// Everybody whom the certificate names, by its digest or by a name in it.
    pub(super) fn by_certificate<'a>(
        &'a self,
        certificate: &certificate::Presented,
    ) -> impl Iterator<Item = &'a Arc<pb::Principal>> {
        let named = certificate.names.iter().filter_map(|name| self.names.get(name).copied());
        let found: Vec<usize> =
            self.certificates.find(&certificate.digest).into_iter().chain(named).collect();
        found.into_iter().map(|at| &self.principals[at])
    }

    pub(super) fn by_seal(&self, peer: &str) -> Option<&Arc<pb::Principal>> {
        self.seals.get(peer).map(|at| &self.principals[*at])
    }
}

// === impl Provider ===

impl Provider {
    fn new(place: &str, entry: file::Provider) -> Result<Provider, String> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        if !(1..=64).contains(&entry.name.len()) || !entry.name.bytes().all(plain) {
            return Err(format!("{place}.name: must be 1 to 64 letters, digits and -_."));
        }
        if entry.audience.is_empty() {
            return Err(format!("{place}.audience: is required: what tokens for this mesh carry as `aud`"));
        }
        fetch::address(&entry.issuer).map_err(|problem| format!("{place}.issuer: {problem}"))?;
        if let Some(jwks) = &entry.jwks {
            fetch::address(jwks).map_err(|problem| format!("{place}.jwks: {problem}"))?;
        }
        let algorithms = match entry.algorithms {
            None => Algorithm::ALL.to_vec(),
            Some(names) => {
                let known: Option<Vec<_>> = names.iter().map(|name| Algorithm::named(name)).collect();
                let must = || format!("{place}.algorithms: must be some of RS256, ES256 and EdDSA");
                known.filter(|known| !known.is_empty()).ok_or_else(must)?
            }
        };
        Ok(Provider {
            name: entry.name,
            place: Place { issuer: entry.issuer, jwks: entry.jwks },
            audience: entry.audience,
            algorithms,
            scopes: scopes(&format!("{place}.scopes"), entry.scopes)?,
            scopes_claim: entry.scopes_claim,
            capabilities: capabilities(
                &format!("{place}.capabilities"),
                entry.capabilities.unwrap_or_else(|| vec![ALL.to_owned()]),
            )?,
            allowance: allowance(entry.allowance.as_ref(), false),
        })
    }
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// One credential proves one principal.
fn taken<K: Ord>(entry: Entry<'_, K, usize>, owner: usize) -> Result<(), String> {
    match entry {
        Entry::Occupied(other) if *other.get() != owner => Err("belongs to another principal too".to_owned()),
        Entry::Occupied(_) => Ok(()),
        Entry::Vacant(room) => {
            room.insert(owner);
            Ok(())
        }
    }
}

fn scopes(place: &str, scopes: Vec<String>) -> Result<Vec<String>, String> {
    match scopes.iter().position(|text| !scope::is_scope(text)) {
        Some(at) => Err(format!("{place}[{at}]: must be visible ASCII without quotes and backslashes")),
        None => Ok(scopes),
    }
}

fn capabilities(place: &str, names: Vec<String>) -> Result<Vec<String>, String> {
    match names.iter().position(|name| name.is_empty() || name.chars().any(char::is_control)) {
        Some(at) => Err(format!("{place}[{at}]: must be the id of a capability, or \"{ALL}\"")),
        None => Ok(names),
    }
}

fn allowance(given: Option<&file::Allowance>, peer: bool) -> pb::Allowance {
    let given = given.cloned().unwrap_or_default();
    let usual = |most| if peer { most } else { 0 };
    pb::Allowance {
        messages_per_minute: given.messages_per_minute.unwrap_or(usual(PEER_MESSAGES)),
        streams_max: given.streams_max.unwrap_or(0),
        tasks_max: given.tasks_max.unwrap_or(0),
        bytes_max: given.bytes_max.unwrap_or(0),
        context_turns_max: given.context_turns_max.unwrap_or(usual(PEER_TURNS)),
    }
}

#[cfg(test)]
mod tests;
