//! Query parameters of GET requests (A2A v1.0 §11.5): camelCase names, as the fields of the request message.

use std::borrow::Cow;
use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use weft_core::Fault;
use weft_proto::a2a::{GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest, TaskState};
use weft_proto::wkt::Timestamp;

/// The parameters of one request, each at most once; the names of the schema (snake_case) are taken as well.
pub(super) struct Query(BTreeMap<String, String>);

// === impl Query ===

impl Query {
    /// Reads the text behind the `?`.
    ///
    /// # Errors
    /// `Invalid` on a parameter that is given twice.
    pub(super) fn read(text: &str) -> Result<Query, Fault> {
        let mut found = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = camel(&decoded(name).ok_or_else(|| Fault::invalid("query", "must be UTF-8"))?);
            let value = decoded(value).ok_or_else(|| Fault::invalid(&name, "must be UTF-8"))?;
            if found.insert(name.clone(), value).is_some() {
                return Err(Fault::invalid(name, "must be given once"));
            }
        }
        Ok(Query(found))
    }

    pub(super) fn get_task(&mut self) -> Result<GetTaskRequest, Fault> {
        Ok(GetTaskRequest {
            tenant: self.text("tenant"),
            history_length: self.number("historyLength")?,
            ..GetTaskRequest::default()
        })
    }

    pub(super) fn list_tasks(&mut self) -> Result<ListTasksRequest, Fault> {
        Ok(ListTasksRequest {
            tenant: self.text("tenant"),
            context_id: self.text("contextId"),
            status: self.state("status")?,
            page_size: self.number("pageSize")?,
            page_token: self.text("pageToken"),
            history_length: self.number("historyLength")?,
            status_timestamp_after: self.time("statusTimestampAfter")?,
            include_artifacts: self.flag("includeArtifacts")?,
        })
    }

    pub(super) fn list_push_configs(&mut self) -> Result<ListTaskPushNotificationConfigsRequest, Fault> {
        Ok(ListTaskPushNotificationConfigsRequest {
            tenant: self.text("tenant"),
            page_size: self.number("pageSize")?.unwrap_or_default(),
            page_token: self.text("pageToken"),
            ..ListTaskPushNotificationConfigsRequest::default()
        })
    }

    pub(super) fn text(&mut self, name: &str) -> String {
        self.0.remove(name).unwrap_or_default()
    }

    fn number(&mut self, name: &str) -> Result<Option<i32>, Fault> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(text) => {
                text.parse().map(Some).map_err(|_| Fault::invalid(name, "must be a whole number of 32 bits"))
            }
        }
    }

    fn flag(&mut self, name: &str) -> Result<Option<bool>, Fault> {
        match self.0.remove(name).as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(Fault::invalid(name, "must be true or false")),
        }
    }

    fn state(&mut self, name: &str) -> Result<i32, Fault> {
        match self.0.remove(name) {
            None => Ok(0),
            Some(text) => TaskState::from_str_name(&text)
                .map(i32::from)
                .ok_or_else(|| Fault::invalid(name, "must be a task state, like TASK_STATE_WORKING")),
        }
    }

    fn time(&mut self, name: &str) -> Result<Option<Timestamp>, Fault> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(text) => weft_proto::json::decode(format!("{text:?}").as_bytes())
                .map(Some)
                .map_err(|_| Fault::invalid(name, "must be a time like 2026-01-31T12:00:00Z")),
        }
    }
}

/// Undoes the encoding of a form; nothing when it is no text.
fn decoded(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Cow::into_owned)
}

/// `history_length` → `historyLength`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else if std::mem::take(&mut upper) {
            out.push(c.to_ascii_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<ListTasksRequest, String> {
        Query::read(text)
            .and_then(|mut query| query.list_tasks())
            .map_err(|fault| fault.violations[0].field.clone())
    }

    #[test]
    fn every_parameter_is_read_by_either_name() {
        let text = "contextId=a%2Bb+c&status=TASK_STATE_WORKING&pageSize=7&pageToken=x&history_length=0\
                    &status_timestamp_after=2026-01-31T12%3A00%3A00Z&includeArtifacts=true&other=1&tenant=crm";
        let request = list(text).unwrap();
        assert_eq!(
            request,
            ListTasksRequest {
                tenant: "crm".into(),
                context_id: "a+b c".into(),
                status: TaskState::Working.into(),
                page_size: Some(7),
                page_token: "x".into(),
                history_length: Some(0),
                status_timestamp_after: Some(Timestamp { seconds: 1_769_860_800, nanos: 0 }),
                include_artifacts: Some(true),
            }
        );
        assert_eq!(list("").unwrap(), ListTasksRequest::default());
    }

    #[test]
    fn a_bad_parameter_is_named() {
        for (text, field) in [
            ("pageSize=x", "pageSize"),
            ("pageSize=1.5", "pageSize"),
            ("page_size=", "pageSize"),
            ("historyLength=99999999999", "historyLength"),
            ("status=working", "status"),
            ("includeArtifacts=1", "includeArtifacts"),
            ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
            ("statusTimestampAfter=%22", "statusTimestampAfter"),
            ("pageSize=1&pageSize=2", "pageSize"),
            ("contextId=%ff", "contextId"),
            ("%ff=1", "query"),
            ("pageSize=1&page_size=1", "pageSize"),
        ] {
            assert_eq!(list(text).unwrap_err(), field, "{text}");
        }
    }
}
