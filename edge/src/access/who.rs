//! Who calls, and what that lets them do.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use weft_core::{Fault, Kind, Owner, scope};
use weft_proto::weft::{AccessPolicy, Allowance, Principal};

use super::challenge;

/// In a list of capabilities: all of them.
const ALL: &str = "*";

/// How a caller stands to the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Whoever reaches a listener for which nobody has credentials: one principal.
    Local,
    /// Nobody in particular, where some have credentials. What is theirs is opened by a task access token.
    Anonymous,
    /// A principal who has proved it.
    Authenticated,
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) standing: Standing,
    /// To whom what they make belongs; none for the anonymous, of whom a token says it.
    pub(crate) owner: Option<Owner>,
    /// For people.
    pub(crate) name: String,
    /// To whom rates and streams are counted. Nothing that a caller can make up is in it.
    pub(crate) account: String,
    pub(crate) allowance: Allowance,
    scopes: Vec<String>,
    capabilities: Vec<String>,
}

static LOCAL: LazyLock<Arc<Who>> = LazyLock::new(|| {
    Arc::new(Who {
        standing: Standing::Local,
        owner: Some(Owner::local()),
        name: String::new(),
        account: Owner::local().to_string(),
        allowance: Allowance::default(),
        scopes: vec![scope::ADMIN.to_owned()],
        capabilities: vec![ALL.to_owned()],
    })
});

// === impl Who ===

impl Who {
    pub(crate) fn local() -> Arc<Who> {
        Arc::clone(&LOCAL)
    }

    /// Nobody in particular, at this address.
    pub(super) fn anonymous(policy: &AccessPolicy, peer: IpAddr) -> Who {
        Who {
            standing: Standing::Anonymous,
            owner: None,
            name: String::new(),
            account: format!("address:{}", network(peer)),
            allowance: policy.anonymous_allowance.unwrap_or_default(),
            scopes: vec![scope::READ.to_owned(), scope::WRITE.to_owned()],
            capabilities: policy.anonymous_capabilities.clone(),
        }
    }

    /// A principal as the signer says it.
    ///
    /// # Errors
    /// `Internal` when its owner is none.
    pub(crate) fn principal(said: Principal) -> Result<Who, Fault> {
        let owner = Owner::parse(said.owner)
            .map_err(|fault| Fault::internal(format!("the signer named a principal wrongly: {fault}")))?;
        Ok(Who {
            standing: Standing::Authenticated,
            account: owner.to_string(),
            owner: Some(owner),
            name: said.name,
            allowance: said.allowance.unwrap_or_default(),
            scopes: said.scopes,
            capabilities: said.capabilities,
        })
    }

    /// # Errors
    /// `Denied`, naming the scope; `Unauthenticated` when credentials would help.
    pub(crate) fn needs(&self, scope: &str) -> Result<(), Fault> {
        match self.standing {
            Standing::Anonymous if !scope::holds(&self.scopes, scope) => {
                Err(challenge::required(format!("credentials with the scope {scope} are needed here")))
            }
            _ => scope::require(&self.scopes, scope),
        }
    }

    /// Whether a capability may be used; a tool of a node that is called as an agent of its own is `node/tool`.
    pub(crate) fn may_use(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|may| may == ALL || may == capability)
    }

    /// True when no capability is kept from them.
    pub(crate) fn may_use_all(&self) -> bool {
        self.capabilities.iter().any(|may| may == ALL)
    }

    /// What they hear of a capability that is not for them.
    pub(crate) fn kept_from(&self, capability: &str) -> Fault {
        if self.standing == Standing::Anonymous {
            return challenge::required(format!("credentials are needed to use {capability}"))
                .with("capability", capability);
        }
        let text = format!("the credentials do not let you use {capability}");
        Fault::new(Kind::Denied, text).with("capability", capability)
    }
}

/// One machine has a whole /64 of IPv6 addresses to call from.
fn network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_may_be_used() {
        let policy = AccessPolicy { anonymous_capabilities: vec!["a.b".into()], ..AccessPolicy::default() };
        let nobody = Who::anonymous(&policy, IpAddr::from([192, 0, 2, 1]));
        assert!(nobody.may_use("a.b") && !nobody.may_use("a.c") && !nobody.may_use("node/a.b"));
        assert_eq!(nobody.kept_from("a.c").kind, Kind::Unauthenticated);
        assert_eq!(nobody.needs(scope::ADMIN).unwrap_err().kind, Kind::Unauthenticated);
        assert!(Who::local().may_use("anything") && Who::local().needs("crm:read").is_ok());
    }

    #[test]
    fn the_anonymous_of_one_network_have_one_account() {
        let account = |peer: &str| Who::anonymous(&AccessPolicy::default(), peer.parse().unwrap()).account;
        assert_eq!(account("2001:db8:0:1::1"), account("2001:db8:0:1:ffff::2"));
        assert_ne!(account("2001:db8:0:1::1"), account("2001:db8:0:2::1"));
        assert_ne!(account("192.0.2.1"), account("192.0.2.2"));
    }
}
