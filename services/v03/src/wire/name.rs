//! Resource names: `tasks/ID` and `tasks/ID/pushNotificationConfigs/ID`.

use weft_core::Fault;

const TASKS: &str = "tasks/";
const CONFIGS: &str = "/pushNotificationConfigs";

pub(super) fn task(id: &str) -> String {
    format!("{TASKS}{id}")
}

pub(super) fn config(task: &str, id: &str) -> String {
    format!("{TASKS}{task}{CONFIGS}/{id}")
}

/// The task of `tasks/ID`; the collection below it may be named too.
pub(super) fn task_id(field: &str, name: &str) -> Result<String, Fault> {
    let id = name.strip_prefix(TASKS).map(|id| id.strip_suffix(CONFIGS).unwrap_or(id));
    match id {
        Some(id) if !id.is_empty() && !id.contains('/') => Ok(id.to_owned()),
        _ => Err(Fault::invalid(field, "must be a name like tasks/ID")),
    }
}

/// Task and configuration of `tasks/ID/pushNotificationConfigs/ID`.
pub(super) fn config_ids(field: &str, name: &str) -> Result<(String, String), Fault> {
    let ids = name.strip_prefix(TASKS).and_then(|rest| rest.split_once(CONFIGS));
    match ids.map(|(task, rest)| (task, rest.strip_prefix('/').unwrap_or(""))) {
        Some((task, id))
            if !task.is_empty() && !id.is_empty() && !task.contains('/') && !id.contains('/') =>
        {
            Ok((task.to_owned(), id.to_owned()))
        }
        _ => Err(Fault::invalid(field, "must be a name like tasks/ID/pushNotificationConfigs/ID")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_put_together() {
        assert_eq!(task_id("name", &task("t-1")).unwrap(), "t-1");
        assert_eq!(task_id("parent", "tasks/t-1/pushNotificationConfigs").unwrap(), "t-1");
        assert_eq!(config_ids("name", &config("t", "c")).unwrap(), ("t".to_owned(), "c".to_owned()));
    }

    #[test]
    fn other_names_are_refused_under_the_field_they_stand_in() {
        for name in ["", "t", "tasks/", "tasks/a/b", "task/a", "/tasks/a"] {
            assert_eq!(task_id("name", name).unwrap_err().violations[0].field, "name", "{name}");
        }
        for name in [
            "tasks/t",
            "tasks/t/pushNotificationConfigs",
            "tasks/t/pushNotificationConfigs/",
            "tasks//pushNotificationConfigs/c",
        ] {
            assert!(config_ids("name", name).is_err(), "{name}");
        }
    }
}
