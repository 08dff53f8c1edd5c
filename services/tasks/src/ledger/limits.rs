//! What an owner may keep, and what is said to one who may not keep more.

use weft_core::{Fault, Kind};
use weft_proto::weft::Quota;

use super::{Ledger, broken, used_up};
use crate::record::is_anonymous;
use crate::store::{Full, Limits, Refused, Store};

/// Reason of a refusal for which waiting does not help, for programs.
const CONTEXT_TURNS: &str = "CONTEXT_TURNS_EXHAUSTED";
/// When to try again once something may have ended.
const RETRY_MS: u32 = 60_000;

impl<S: Store> Ledger<S> {
    /// What an owner may keep: as the sender says, else as the settings do.
    pub(super) fn limits(&self, owner: &str, quota: &Quota) -> Limits {
        let settings = &self.settings;
        let tasks = if is_anonymous(owner) { settings.anonymous_tasks_max } else { settings.owner_tasks_max };
        let or = |given: u64, default: u64| if given == 0 { default } else { given };
        let turns =
            if quota.context_turns_max == 0 { settings.context_turns_max } else { quota.context_turns_max };
        Limits {
            tasks_max: or(quota.tasks_max, tasks),
            bytes_max: or(quota.bytes_max, settings.owner_bytes_max),
            turns_max: turns,
        }
    }

    /// A refusal of the store as its caller sees it.
    pub(super) fn refused(&self, refused: Refused, limits: Limits) -> Fault {
        let full = match refused {
            Refused::Full(full) => full,
            Refused::Broken(why) => return broken(why),
            Refused::Conflict => return Fault::unavailable("the task changed meanwhile; try again"),
            Refused::Taken(_) => return used_up(),
            Refused::Forgetting => {
                return Fault::unavailable("everything of this owner is being removed; try again later");
            }
        };
        let exhausted = |holder: &str, most: u64, what: &str, setting: &str| {
            let text = format!(
                "{holder} holds {most} {what}, the most it may ({setting}), and none has ended that could go; try later"
            );
            Fault::exhausted(text, RETRY_MS)
        };
        match full {
            Full::Tasks => exhausted("the store", self.settings.tasks_max, "tasks", "tasks.tasks_max"),
            Full::Bytes => {
                let most = self.settings.store_bytes_max;
                let text = format!(
                    "the store holds {most} bytes, the most it may (tasks.store_bytes_max); try later"
                );
                Fault::exhausted(text, RETRY_MS)
            }
            Full::OwnerTasks => {
                exhausted("this owner", limits.tasks_max, "tasks", "tasks_max of its allowance")
            }
            Full::OwnerBytes => {
                exhausted("this owner", limits.bytes_max, "bytes", "bytes_max of its allowance")
            }
            Full::Turns => {
                let most = limits.turns_max;
                let text = format!(
                    "{CONTEXT_TURNS}: this context holds {most} messages, the most it may; start another context"
                );
                Fault::new(Kind::TooLarge, text).with("limit", CONTEXT_TURNS).with("max", most.to_string())
            }
            Full::Conversations => {
                let most = self.settings.conversations_max;
                let text = format!(
                    "this owner has {most} conversations, the most it may (tasks.conversations_max); renew one of them"
                );
                Fault::new(Kind::TooLarge, text)
            }
        }
    }
}
