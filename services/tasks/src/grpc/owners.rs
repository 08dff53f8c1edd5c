//! What belongs to owners, over the same ledger.

use futures::{StreamExt, TryStreamExt};
use tonic::{Request, Response, Status};
use weft_chassis::status::status;
use weft_proto::weft::owners_server::Owners;
use weft_proto::weft::{
    ConversationRequest, ConversationResponse, ConversationsRequest, ConversationsResponse, ExportedTask,
    ForgetOwnerResponse, OwnerRequest,
};

use super::{Events, stopping};
use crate::ledger::Ledger;
use crate::store::Store;

#[tonic::async_trait]
impl<S: Store> Owners for Ledger<S> {
    type ExportStream = Events<ExportedTask>;

    async fn conversation(
        &self,
        request: Request<ConversationRequest>,
    ) -> Result<Response<ConversationResponse>, Status> {
        Ledger::conversation(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn conversations(
        &self,
        request: Request<ConversationsRequest>,
    ) -> Result<Response<ConversationsResponse>, Status> {
        Ledger::conversations(self, request.into_inner()).await.map(Response::new).map_err(status)
    }

    async fn export(&self, request: Request<OwnerRequest>) -> Result<Response<Events<ExportedTask>>, Status> {
        let exporting = Ledger::export(self, request.into_inner()).map_err(status)?;
        let stop = self.env.stop().clone();
        // Cut short it says so: what has come is not all.
        let stopped = stop.clone();
        let cut = futures::stream::once(async move { stopped.is_cancelled() })
            .filter_map(|cut| std::future::ready(cut.then(|| Err(stopping()))));
        let tasks = exporting.stream().map_err(status).take_until(stop.cancelled_owned());
        Ok(Response::new(Box::pin(tasks.chain(cut))))
    }

    async fn forget(&self, request: Request<OwnerRequest>) -> Result<Response<ForgetOwnerResponse>, Status> {
        self.forget_owner(request.into_inner()).await.map(Response::new).map_err(status)
    }
}
