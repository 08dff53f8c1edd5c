//! Method and path to operation: the URL patterns of A2A v1.0 §11.3.
//!
//! A path is read segment by segment after percent-decoding, so that `tasks/a%2Fb` names the task `a/b` and
//! `tasks/t%3Acancel` is the same as `tasks/t:cancel`.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::a2a::Operation;

/// What a request line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// True under `v1/`, where v0.3 is spoken.
    pub(super) legacy: bool,
    /// Empty: the mesh.
    pub(super) tenant: String,
    pub(super) operation: Operation,
    /// Empty where the operation has none.
    pub(super) task_id: String,
    /// Empty where the operation has none.
    pub(super) config_id: String,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing lies under this path.
    Path,
    /// Something does, under these methods.
    Method(&'static str),
}

/// Finds the operation. `path` is what follows the base URL, without a leading slash.
pub(super) fn find(method: &Method, path: &str) -> Result<Route, Missing> {
    let segments: Option<Vec<String>> = path.split('/').map(decoded).collect();
    let segments = segments.ok_or(Missing::Path)?;
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (tenant, legacy, rest) = match segments.as_slice() {
        ["v1", rest @ ..] => ("", true, rest),
        [tenant, "v1", rest @ ..] if !tenant.is_empty() => (*tenant, true, rest),
        all if is_pattern(all) => ("", false, all),
        [tenant, rest @ ..] if !tenant.is_empty() => (*tenant, false, rest),
        _ => return Err(Missing::Path),
    };
    let route = on(method, rest, legacy).ok_or(Missing::Path)?;
    route.map(|route| Route { legacy, tenant: tenant.to_owned(), ..route }).map_err(Missing::Method)
}

/// Whether a path begins as a pattern without tenant does. No agent has one of these names.
fn is_pattern(segments: &[&str]) -> bool {
    matches!(segments, ["tasks", ..] | ["message:send" | "message:stream" | "extendedAgentCard"])
}

/// The operation under a path without tenant; `None` when nothing lies there, the methods when others do.
fn on(method: &Method, segments: &[&str], legacy: bool) -> Option<Result<Route, &'static str>> {
    let (get, post, delete) =
        (method == Method::GET || method == Method::HEAD, method == Method::POST, method == Method::DELETE);
    let route = |operation, task_id: &str, config_id: &str| {
        Ok(Route {
            legacy: false,
            tenant: String::new(),
            operation,
            task_id: task_id.to_owned(),
            config_id: config_id.to_owned(),
        })
    };
    Some(match segments {
        ["message:send"] if post => route(Operation::SendMessage, "", ""),
        ["message:stream"] if post => route(Operation::SendStreamingMessage, "", ""),
        ["message:send" | "message:stream"] => Err("POST"),
        ["extendedAgentCard"] if get && !legacy => route(Operation::GetExtendedAgentCard, "", ""),
        ["extendedAgentCard"] if !legacy => Err("GET"),
        ["card"] if get && legacy => route(Operation::GetExtendedAgentCard, "", ""),
        ["card"] if legacy => Err("GET"),
        ["tasks"] if get && !legacy => route(Operation::ListTasks, "", ""),
        ["tasks"] if !legacy => Err("GET"),
        ["tasks", task] => match task.rsplit_once(':') {
            Some((id, "subscribe")) if get || post => route(Operation::SubscribeToTask, id, ""),
            Some((_, "subscribe")) => Err("GET, POST"),
            Some((id, "cancel")) if post => route(Operation::CancelTask, id, ""),
            Some((_, "cancel")) if !get => Err("POST"),
            _ if get => route(Operation::GetTask, task, ""),
            _ => Err("GET"),
        },
        ["tasks", task, "pushNotificationConfigs"] if get => route(Operation::ListPushConfigs, task, ""),
        ["tasks", task, "pushNotificationConfigs"] if post => route(Operation::CreatePushConfig, task, ""),
        ["tasks", _, "pushNotificationConfigs"] => Err("GET, POST"),
        ["tasks", task, "pushNotificationConfigs", id] if get => route(Operation::GetPushConfig, task, id),
        ["tasks", task, "pushNotificationConfigs", id] if delete => {
            route(Operation::DeletePushConfig, task, id)
        }
        ["tasks", _, "pushNotificationConfigs", _] => Err("GET, DELETE"),
        _ => return None,
    })
}

fn decoded(segment: &str) -> Option<String> {
    percent_decode_str(segment).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> String {
        let (method, path) = line.split_once(' ').unwrap();
        match find(&method.parse().unwrap(), path) {
            Ok(r) => {
                let legacy = if r.legacy { "0.3 " } else { "" };
                format!("{legacy}{}@{} {} {}", r.operation.name(), r.tenant, r.task_id, r.config_id)
            }
            Err(Missing::Path) => "404".to_owned(),
            Err(Missing::Method(allowed)) => format!("405 {allowed}"),
        }
    }

    #[test]
    fn every_pattern_is_found_with_and_without_a_tenant() {
        for (line, expected) in [
            ("POST message:send", "SendMessage@ "),
            ("POST message:stream", "SendStreamingMessage@ "),
            ("GET tasks", "ListTasks@ "),
            ("GET tasks/t", "GetTask@ t"),
            ("POST tasks/t:cancel", "CancelTask@ t"),
            ("POST tasks/t:subscribe", "SubscribeToTask@ t"),
            ("GET tasks/t:subscribe", "SubscribeToTask@ t"),
            ("GET tasks/t/pushNotificationConfigs", "ListTaskPushNotificationConfigs@ t"),
            ("POST tasks/t/pushNotificationConfigs", "CreateTaskPushNotificationConfig@ t"),
            ("GET tasks/t/pushNotificationConfigs/c", "GetTaskPushNotificationConfig@ t c"),
            ("DELETE tasks/t/pushNotificationConfigs/c", "DeleteTaskPushNotificationConfig@ t c"),
            ("GET extendedAgentCard", "GetExtendedAgentCard@ "),
        ] {
            assert_eq!(found(line).trim_end(), expected.trim_end(), "{line}");
            let (method, path) = line.split_once(' ').unwrap();
            let with_tenant = expected.replacen('@', "@crm", 1);
            assert_eq!(found(&format!("{method} crm/{path}")).trim_end(), with_tenant.trim_end(), "{line}");
        }
    }

    #[test]
    fn old_paths_are_told_apart() {
        assert_eq!(found("POST v1/message:send").trim_end(), "0.3 SendMessage@");
        assert_eq!(found("GET v1/card").trim_end(), "0.3 GetExtendedAgentCard@");
        assert_eq!(found("GET v1/tasks/t:subscribe").trim_end(), "0.3 SubscribeToTask@ t");
        assert_eq!(found("POST crm/v1/message:send").trim_end(), "0.3 SendMessage@crm");
        assert_eq!(found("GET v1/extendedAgentCard"), "404");
        assert_eq!(found("GET card"), "404");
    }

    #[test]
    fn encoded_paths_are_the_same_paths() {
        assert_eq!(found("POST tasks/t%3Acancel").trim_end(), "CancelTask@ t");
        assert_eq!(found("POST tasks/t%3asubscribe").trim_end(), "SubscribeToTask@ t");
        assert_eq!(found("POST message%3Asend").trim_end(), "SendMessage@");
        assert_eq!(found("GET tasks/a%2Fb%20%C3%A9").trim_end(), "GetTask@ a/b é");
        assert_eq!(found("GET tasks/%252e%252e%252fadmin").trim_end(), "GetTask@ %2e%2e%2fadmin");
        assert_eq!(found("GET tasks/a:b").trim_end(), "GetTask@ a:b");
        assert_eq!(found("GET tasks/").trim_end(), "GetTask@", "the id is missing, which is said");
        assert_eq!(found("GET /tasks"), "404");
        assert_eq!(found("GET tasks/%ff"), "404");
    }

    #[test]
    fn what_is_not_there_and_what_is_there_otherwise() {
        for line in [
            "GET ",
            "GET x",
            "POST crm",
            "GET crm/x/y",
            "GET a/b/tasks",
            "POST crm/lan/message:send",
            "GET v1",
        ] {
            assert_eq!(found(line), "404", "{line}");
        }
        assert_eq!(found("GET message:send"), "405 POST");
        assert_eq!(found("DELETE tasks/t"), "405 GET");
        assert_eq!(found("PUT tasks/t:cancel"), "405 POST");
        assert_eq!(found("PUT crm/tasks/t/pushNotificationConfigs/c"), "405 GET, DELETE");
    }
}
