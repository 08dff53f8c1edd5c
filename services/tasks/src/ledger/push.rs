//! The webhooks of a task: set, get, list, delete.

use weft_core::Fault;
use weft_proto::a2a::{ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig};
use weft_proto::weft::{
    DeletePushConfigRequest, DeletePushConfigResponse, GetPushConfigRequest, ListPushConfigsRequest,
    PushStatusRequest, PushStatusResponse, SetPushConfigRequest,
};

use super::Ledger;
use crate::store::Store;

impl<S: Store> Ledger<S> {
    pub(crate) async fn set_push(&self, _: SetPushConfigRequest) -> Result<TaskPushNotificationConfig, Fault> {
        Err(not_yet())
    }

    pub(crate) async fn get_push(&self, _: GetPushConfigRequest) -> Result<TaskPushNotificationConfig, Fault> {
        Err(not_yet())
    }

    pub(crate) async fn list_pushes(
        &self,
        _: ListPushConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Fault> {
        Err(not_yet())
    }

    pub(crate) async fn delete_push(
        &self,
        _: DeletePushConfigRequest,
    ) -> Result<DeletePushConfigResponse, Fault> {
        Err(not_yet())
    }

    pub(crate) async fn push_status(&self, _: PushStatusRequest) -> Result<PushStatusResponse, Fault> {
        Err(not_yet())
    }
}

fn not_yet() -> Fault {
    Fault::new(weft_core::Kind::PushNotificationNotSupported, "webhooks are not kept yet")
}
