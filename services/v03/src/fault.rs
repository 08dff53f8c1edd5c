//! Faults as v0.3 has them: its error codes, and members by the names that its callers wrote.

use std::collections::BTreeMap;

use serde::Deserialize;
use weft_core::{Fault, Kind, Violation};

/// JSON-RPC code of a kind. v0.3 knows -32001 to -32007; what else v1.0 has codes for is said by the nearest of them,
/// a wrong id or key by -32602. The rest keep the mesh's own, which lie in the range that JSON-RPC leaves to servers.
pub const fn code(kind: Kind) -> i32 {
    match kind {
        Kind::ExtensionSupportRequired | Kind::VersionNotSupported => {
            Kind::UnsupportedOperation.row().jsonrpc
        }
        Kind::NotFound | Kind::Conflict | Kind::TooLarge => Kind::Invalid.row().jsonrpc,
        kind => kind.row().jsonrpc,
    }
}

/// Name of the error in v0.3, for kinds that it has.
pub const fn name(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::TaskNotFound => "TaskNotFoundError",
        Kind::TaskNotCancelable => "TaskNotCancelableError",
        Kind::PushNotificationNotSupported => "PushNotificationNotSupportedError",
        Kind::UnsupportedOperation | Kind::ExtensionSupportRequired | Kind::VersionNotSupported => {
            "UnsupportedOperationError"
        }
        Kind::ContentTypeNotSupported => "ContentTypeNotSupportedError",
        Kind::InvalidAgentResponse => "InvalidAgentResponseError",
        Kind::ExtendedAgentCardNotConfigured => "AuthenticatedExtendedCardNotConfiguredError",
        Kind::Invalid | Kind::NotFound | Kind::Conflict | Kind::TooLarge => "InvalidParamsError",
        Kind::Internal => "InternalError",
        _ => return None,
    })
}

/// An error object of a v0.3 server; its `data` may be anything, or missing.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ErrorObject {
    /// The code; 0 if there was none.
    #[serde(default)]
    pub code: i32,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// `google.rpc` details in an array or alone; anything else is not looked at.
    #[serde(default)]
    pub data: serde_json::Value,
}

impl ErrorObject {
    /// The fault it stands for: by the reason in its details, by its code otherwise.
    pub fn into_fault(self) -> Fault {
        let details = match &self.data {
            serde_json::Value::Array(details) => details.as_slice(),
            single => std::slice::from_ref(single),
        };
        let text = |detail: &serde_json::Value, name: &str| {
            detail.get(name).and_then(|value| value.as_str()).map(str::to_owned)
        };
        let reason = details.iter().find_map(|detail| text(detail, "reason"));
        let kind = reason.and_then(|reason| Kind::from_reason(&reason)).or_else(|| of_code(self.code));
        let violations = details.iter().filter_map(|detail| detail.get("fieldViolations")?.as_array());
        let violations = violations.flatten().filter_map(|violation| {
            Some(Violation { field: text(violation, "field")?, description: text(violation, "description")? })
        });
        let metadata = details.iter().filter_map(|detail| detail.get("metadata")?.as_object()).flatten();
        let metadata = metadata.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        Fault {
            violations: violations.collect(),
            metadata: metadata.collect::<BTreeMap<_, _>>(),
            ..Fault::new(kind.unwrap_or(Kind::InvalidAgentResponse), self.message)
        }
    }
}

/// The kind of a code; JSON-RPC's own faults of the envelope are our mistakes.
fn of_code(code: i32) -> Option<Kind> {
    match code {
        -32700 | -32600 => Some(Kind::Internal),
        -32601 => Some(Kind::UnsupportedOperation),
        code => Kind::ALL.into_iter().find(|kind| kind.row().jsonrpc == code),
    }
}

/// Which names a caller wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Those of [`json`](crate::json).
    Json,
    /// Those of [`wire`](crate::wire).
    Wire,
}

impl Form {
    /// The same fault, its members by the names of this form: `message.parts[0].raw` is `message.parts[0].file.bytes`
    /// to a JSON-RPC caller and `message.content[0].file.fileWithBytes` to another.
    #[must_use]
    pub fn fault(self, fault: Fault) -> Fault {
        if fault.violations.is_empty() {
            return fault;
        }
        let renamed: Vec<_> = fault
            .violations
            .iter()
            .map(|Violation { field, description }| Violation {
                field: self.path(field),
                description: description.clone(),
            })
            .collect();
        // A message begins with the first member, if it names one.
        let rest = fault.message.strip_prefix(fault.violations[0].field.as_str());
        let message =
            rest.filter(|rest| rest.starts_with(':')).map(|rest| format!("{}{rest}", renamed[0].field));
        Fault { message: message.unwrap_or(fault.message), violations: renamed, ..fault }
    }

    fn path(self, path: &str) -> String {
        let mut out: Vec<String> = Vec::new();
        // Whether the step before was a part, and whether what follows is the content of a data part.
        let (mut in_part, mut in_data) = (false, false);
        for step in path.split('.') {
            let (name, index) = step.find('[').map_or((step, ""), |at| step.split_at(at));
            let in_message = out.last().is_some_and(|last| last == "message");
            let renamed = match (self, name) {
                _ if in_data => name,
                (Form::Wire, "parts") if in_message => "content",
                (Form::Json, "raw") if in_part => "file.bytes",
                (Form::Json, "url") if in_part => "file.uri",
                (Form::Wire, "raw") if in_part => "file.fileWithBytes",
                (Form::Wire, "url") if in_part => "file.fileWithUri",
                (Form::Wire, "data") if in_part => "data.data",
                (_, "filename") if in_part => "file.name",
                (_, "mediaType") if in_part => "file.mimeType",
                (Form::Json, "taskPushNotificationConfig") => "pushNotificationConfig",
                (Form::Wire, "taskPushNotificationConfig") => "pushNotification",
                (_, "returnImmediately") => "blocking",
                (_, "scheme") if out.last().is_some_and(|last| last == "authentication") => "schemes",
                _ => name,
            };
            in_data |= name == "metadata" || in_part && name == "data";
            in_part = name == "parts" && !index.is_empty();
            out.push(format!("{renamed}{index}"));
        }
        out.join(".")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_that_came_after_v03_are_said_by_older_ones() {
        for kind in Kind::ALL {
            let code = code(kind);
            assert!(![-32008, -32009].contains(&code), "{kind:?}");
            if (-32007..=-32001).contains(&kind.row().jsonrpc) {
                assert_eq!(code, kind.row().jsonrpc);
                assert!(name(kind).is_some());
            }
        }
        assert_eq!(code(Kind::VersionNotSupported), -32004);
        assert_eq!(code(Kind::NotFound), -32602);
    }

    #[test]
    fn an_error_object_is_read_whatever_its_data_is() {
        let kind = |data: serde_json::Value| {
            let error = json!({"code": -32001, "message": "gone", "data": data});
            serde_json::from_value::<ErrorObject>(error).unwrap().into_fault().kind
        };
        let detail = json!({"reason": "VERSION_NOT_SUPPORTED", "domain": "a2a-protocol.org"});
        assert_eq!(kind(json!([detail])), Kind::VersionNotSupported);
        assert_eq!(kind(detail), Kind::VersionNotSupported);
        for data in [json!(null), json!("text"), json!([]), json!([1]), json!({"reason": "OTHER"})] {
            assert_eq!(kind(data), Kind::TaskNotFound);
        }
        let bare: ErrorObject = serde_json::from_value(json!({"code": -31999})).unwrap();
        assert_eq!(bare.into_fault().kind, Kind::InvalidAgentResponse);
    }

    #[test]
    fn details_come_back_as_they_were() {
        let data = json!([
            {"reason": "INVALID_PARAMS", "metadata": {"taskId": "t"}},
            {"fieldViolations": [{"field": "message.parts", "description": "must hold one"}]},
        ]);
        let fault = ErrorObject { code: -32602, message: "m".into(), data }.into_fault();
        assert_eq!((fault.kind, fault.metadata["taskId"].as_str()), (Kind::Invalid, "t"));
        assert_eq!(fault.violations[0].field, "message.parts");
    }

    #[test]
    fn members_are_named_as_the_caller_wrote_them() {
        let cases = [
            ("message.parts[0].raw", "message.parts[0].file.bytes", "message.content[0].file.fileWithBytes"),
            (
                "message.parts[1].mediaType",
                "message.parts[1].file.mimeType",
                "message.content[1].file.mimeType",
            ),
            ("message.parts[0].data.raw", "message.parts[0].data.raw", "message.content[0].data.data.raw"),
            ("message.metadata.parts", "message.metadata.parts", "message.metadata.parts"),
            ("message.parts", "message.parts", "message.content"),
            (
                "configuration.taskPushNotificationConfig.url",
                "configuration.pushNotificationConfig.url",
                "configuration.pushNotification.url",
            ),
            ("configuration.returnImmediately", "configuration.blocking", "configuration.blocking"),
        ];
        for (path, json, wire) in cases {
            let fault = Fault::invalid(path, "is wrong");
            let renamed = Form::Json.fault(fault.clone());
            assert_eq!(renamed.violations[0].field, json);
            assert_eq!(renamed.message, format!("{json}: is wrong"));
            assert_eq!(Form::Wire.fault(fault).violations[0].field, wire);
        }
        for (message, expected) in [
            ("message.parts: d (and 2 more)", "message.content: d (and 2 more)"),
            ("message.parts[0]: d", "message.parts[0]: d"),
            ("m", "m"),
        ] {
            let fault = Fault { message: message.into(), ..Fault::invalid("message.parts", "d") };
            assert_eq!(Form::Wire.fault(fault).message, expected);
        }
    }
}
