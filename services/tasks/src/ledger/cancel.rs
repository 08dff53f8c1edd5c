//! A caller gives a task up.

use weft_core::task;
use weft_core::{Fault, Owner};
use weft_proto::a2a::Task;
use weft_proto::weft::CancelRequest;

use super::{Decision, Ledger};
use crate::record::Head;
use crate::store::Store;

impl<S: Store> Ledger<S> {
    /// Moves the task to CANCELED and tells its worker; a canceled one is answered as it is.
    pub(crate) async fn cancel(&self, request: CancelRequest) -> Result<Task, Fault> {
        let ledger = self.clone();
        self.whole(Box::pin(async move { ledger.cancel_now(request).await })).await
    }

    async fn cancel_now(&self, request: CancelRequest) -> Result<Task, Fault> {
        let owner = Owner::parse(request.owner)?;
        let (slot, now) = self.slot_of(&owner, &request.task_id).await?;
        drop(now);
        let _writer = slot.writer.lock().await;
        let canceled = self.change(&slot, |now| {
            let change = task::cancel(&now.task, request.metadata.clone(), self.env.now())?;
            let head = Head::clone(&now.head);
            Ok(change.map(|change| Decision { change, ..Decision::head_only(head) }))
        });
        if canceled.await? {
            self.queue.stop(slot.id());
        }
        let now = slot.now().ok_or_else(|| Fault::task_not_found(&request.task_id))?;
        Ok(Task::clone(&now.task))
    }
}
