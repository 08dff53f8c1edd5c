//! The roles of a mesh, and who may call whom.
//!
//! The table is data: the composition root gives a role only the peers that stand here, and network policies are
//! derived from it.

use std::fmt;

/// One service of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Role {
    /// Holds the mesh's keys.
    Signer,
    /// Keeps spans and answers for them.
    Journal,
    /// Knows nodes and capabilities.
    Catalog,
    /// Writes tasks.
    Tasks,
    /// Judges proposals.
    Negotiator,
    /// Runs work on nodes.
    ExecutorBridge,
    /// Faces the outside.
    Edge,
}

impl Role {
    /// Every role, in the order in which an all-in-one starts them: callees before callers.
    pub const ALL: [Role; 7] = [
        Role::Journal,
        Role::Signer,
        Role::Catalog,
        Role::Tasks,
        Role::Negotiator,
        Role::ExecutorBridge,
        Role::Edge,
    ];

    /// As on the command line, in settings and in Kubernetes.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Signer => "signer",
            Role::Journal => "journal",
            Role::Catalog => "catalog",
            Role::Tasks => "tasks",
            Role::Negotiator => "negotiator",
            Role::ExecutorBridge => "executor-bridge",
            Role::Edge => "edge",
        }
    }

    /// The roles that this one may call.
    pub const fn callees(self) -> &'static [Role] {
        match self {
            Role::Edge => &[
                Role::Catalog,
                Role::Tasks,
                Role::Signer,
                Role::Negotiator,
                Role::ExecutorBridge,
                Role::Journal,
            ],
            Role::ExecutorBridge => {
                &[Role::Catalog, Role::Tasks, Role::Signer, Role::Negotiator, Role::Journal]
            }
            Role::Catalog | Role::Tasks => &[Role::Signer, Role::Journal],
            Role::Signer | Role::Negotiator => &[Role::Journal],
            Role::Journal => &[],
        }
    }

    /// True when this role may open connections beyond the mesh's own services.
    pub const fn goes_outside(self) -> bool {
        matches!(self, Role::ExecutorBridge | Role::Tasks | Role::Signer)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_start_before_their_callers_so_that_no_cycle_can_be() {
        for (position, role) in Role::ALL.into_iter().enumerate() {
            for callee in role.callees() {
                let started = Role::ALL.iter().position(|r| r == callee).unwrap();
                assert!(started < position, "{role} calls {callee}, which starts later");
            }
        }
    }
}
