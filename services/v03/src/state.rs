//! Task states and roles by their v0.3 names.

use weft_proto::a2a::{Role, TaskState};

const STATES: [(TaskState, &str); 9] = [
    (TaskState::Unspecified, "unknown"),
    (TaskState::Submitted, "submitted"),
    (TaskState::Working, "working"),
    (TaskState::Completed, "completed"),
    (TaskState::Failed, "failed"),
    (TaskState::Canceled, "canceled"),
    (TaskState::InputRequired, "input-required"),
    (TaskState::Rejected, "rejected"),
    (TaskState::AuthRequired, "auth-required"),
];

/// The name of a state; a number that has none is unknown.
pub(crate) fn name(state: i32) -> &'static str {
    STATES.iter().find(|(of, _)| i32::from(*of) == state).map_or("unknown", |(_, name)| name)
}

/// The state of a name.
pub(crate) fn named(name: &str) -> Option<TaskState> {
    // The schema's spelling, which some peers use in JSON too.
    let name = if name == "cancelled" { "canceled" } else { name };
    STATES.iter().find(|(_, of)| *of == name).map(|(state, _)| *state)
}

/// Whether no event follows the one with this state.
pub(crate) fn is_final(state: i32) -> bool {
    matches!(
        TaskState::try_from(state),
        Ok(TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected)
    )
}

/// The name of a role. There are two: what a caller did not write, an agent did.
pub(crate) fn role_name(role: i32) -> &'static str {
    if role == i32::from(Role::User) { "user" } else { "agent" }
}

/// The role of a name; the names of v1.0 are read too.
pub(crate) fn role_named(name: &str) -> Option<Role> {
    match name {
        "user" | "ROLE_USER" => Some(Role::User),
        "agent" | "ROLE_AGENT" => Some(Role::Agent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_name_of_its_own() {
        for number in 0..=8 {
            let state = TaskState::try_from(number).unwrap();
            assert_eq!(named(name(number)), Some(state));
        }
        assert_eq!((name(99), name(-1)), ("unknown", "unknown"));
        assert_eq!(named("cancelled"), Some(TaskState::Canceled));
        assert_eq!(named("TASK_STATE_WORKING"), None);
    }

    #[test]
    fn states_that_wait_for_the_caller_are_not_final() {
        let finals: Vec<_> = (0..=8).filter(|state| is_final(*state)).map(name).collect();
        assert_eq!(finals, ["completed", "failed", "canceled", "rejected"]);
    }
}
