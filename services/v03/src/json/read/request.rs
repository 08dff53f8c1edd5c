//! Parameters of requests, and push configurations, which are parameters and answers alike.

use weft_core::Fault;
use weft_proto::a2a as v1;

use super::{Read, Sealed, each, form, message, parsed, read};
use crate::at::At;

read! {
    v1::SendMessageRequest, form::SendParams, send;
    v1::GetTaskRequest, form::TaskParams, get;
    v1::CancelTaskRequest, form::TaskParams, cancel;
    v1::SubscribeToTaskRequest, form::TaskParams, subscribe;
    v1::TaskPushNotificationConfig, form::TaskPushConfig, task_push_config;
    v1::GetTaskPushNotificationConfigRequest, form::TaskParams, get_push;
    v1::ListTaskPushNotificationConfigsRequest, form::TaskParams, list_push;
    v1::DeleteTaskPushNotificationConfigRequest, form::TaskParams, delete_push;
    v1::ListTaskPushNotificationConfigsResponse, Vec<form::TaskPushConfig>, push_configs;
}

fn send(form: form::SendParams, at: &At<'_>) -> Result<v1::SendMessageRequest, Fault> {
    Ok(v1::SendMessageRequest {
        tenant: String::new(),
        message: form.message.map(|form| message(form, &at.field("message"))).transpose()?,
        configuration: form.configuration.map(configuration),
        metadata: form.metadata,
    })
}

fn configuration(form: form::Configuration) -> v1::SendMessageConfiguration {
    let push = form.push_notification_config;
    v1::SendMessageConfiguration {
        accepted_output_modes: form.accepted_output_modes.unwrap_or_default(),
        task_push_notification_config: push.map(|form| push_config(form, String::new())),
        history_length: length(form.history_length),
        return_immediately: form.blocking == Some(false),
    }
}

/// 0 is as good as unset.
fn length(given: Option<form::Integer>) -> Option<i32> {
    given.map(|form::Integer(length)| length).filter(|length| *length != 0)
}

fn push_config(form: form::PushConfig, task_id: String) -> v1::TaskPushNotificationConfig {
    v1::TaskPushNotificationConfig {
        tenant: String::new(),
        id: form.id.unwrap_or_default(),
        task_id,
        url: form.url.unwrap_or_default(),
        token: form.token.unwrap_or_default(),
        authentication: form.authentication.map(authentication),
    }
}

/// Of several schemes the first.
fn authentication(form: form::Authentication) -> v1::AuthenticationInfo {
    v1::AuthenticationInfo {
        scheme: form.schemes.unwrap_or_default().into_iter().next().unwrap_or_default(),
        credentials: form.credentials.unwrap_or_default(),
    }
}

fn task_push_config(form: form::TaskPushConfig, _: &At<'_>) -> Result<v1::TaskPushNotificationConfig, Fault> {
    Ok(push_config(form.push_notification_config.unwrap_or_default(), form.task_id.unwrap_or_default()))
}

fn push_configs(
    forms: Vec<form::TaskPushConfig>,
    at: &At<'_>,
) -> Result<v1::ListTaskPushNotificationConfigsResponse, Fault> {
    let configs = each(Some(forms), at, task_push_config)?;
    Ok(v1::ListTaskPushNotificationConfigsResponse { configs, next_page_token: String::new() })
}

fn get(form: form::TaskParams, _: &At<'_>) -> Result<v1::GetTaskRequest, Fault> {
    Ok(v1::GetTaskRequest {
        tenant: String::new(),
        id: form.id.unwrap_or_default(),
        history_length: length(form.history_length),
    })
}

fn cancel(form: form::TaskParams, _: &At<'_>) -> Result<v1::CancelTaskRequest, Fault> {
    Ok(v1::CancelTaskRequest {
        tenant: String::new(),
        id: form.id.unwrap_or_default(),
        metadata: form.metadata,
    })
}

fn subscribe(form: form::TaskParams, _: &At<'_>) -> Result<v1::SubscribeToTaskRequest, Fault> {
    Ok(v1::SubscribeToTaskRequest { tenant: String::new(), id: form.id.unwrap_or_default() })
}

fn get_push(form: form::TaskParams, _: &At<'_>) -> Result<v1::GetTaskPushNotificationConfigRequest, Fault> {
    Ok(v1::GetTaskPushNotificationConfigRequest {
        tenant: String::new(),
        task_id: form.id.unwrap_or_default(),
        id: form.push_notification_config_id.unwrap_or_default(),
    })
}

fn list_push(
    form: form::TaskParams,
    _: &At<'_>,
) -> Result<v1::ListTaskPushNotificationConfigsRequest, Fault> {
    Ok(v1::ListTaskPushNotificationConfigsRequest {
        task_id: form.id.unwrap_or_default(),
        ..v1::ListTaskPushNotificationConfigsRequest::default()
    })
}

fn delete_push(
    form: form::TaskParams,
    _: &At<'_>,
) -> Result<v1::DeleteTaskPushNotificationConfigRequest, Fault> {
    Ok(v1::DeleteTaskPushNotificationConfigRequest {
        tenant: String::new(),
        task_id: form.id.unwrap_or_default(),
        id: form.push_notification_config_id.unwrap_or_default(),
    })
}
