//! gRPC: the same messages in protobuf, over the same HTTP stack as everything else.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::BodyExt;
use tonic::client::Grpc;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};
use tonic_prost::ProstCodec;
use tower::BoxError;
use weft_proto::a2a::StreamResponse;

use super::{Opened, Wire};
use crate::call::{Answer, access_token};
use crate::error::Why;
use crate::fault::{self, About};
use crate::follow::Event;
use crate::http::Http;
use crate::legacy::{Files, Legacy, lacking};
use crate::operation::Operation;

const SERVICE: &str = "lf.a2a.v1.A2AService";
const OLD_SERVICE: &str = "a2a.v1.A2AService";

impl Wire {
    pub(super) async fn grpc_unary<O: Operation>(
        &self,
        request: O::Request,
        headers: HeaderMap,
    ) -> Result<Answer<O::Answer>, Why> {
        if self.is_old() {
            let path = old_path::<O>()?;
            let (headers, answer) =
                self.one(O::Old::down(request, self.files), headers, path, O::ABOUT).await?;
            return Ok(Answer::new(old::<O>(answer, self.files)?, &headers));
        }
        let (headers, answer) = self.one(request, headers, path(SERVICE, O::NAME)?, O::ABOUT).await?;
        Ok(Answer::new(answer, &headers))
    }

    pub(super) async fn grpc_stream<O: Operation<Answer = StreamResponse>>(
        &self,
        request: O::Request,
        headers: HeaderMap,
    ) -> Result<Opened, Why> {
        if self.is_old() {
            let (path, files) = (old_path::<O>()?, self.files);
            let read = move |answer| old::<O>(answer, files);
            return self.many(O::Old::down(request, files), headers, path, O::ABOUT, read).await;
        }
        self.many(request, headers, path(SERVICE, O::NAME)?, O::ABOUT, Ok).await
    }

    async fn one<R, A>(
        &self,
        request: R,
        headers: HeaderMap,
        path: PathAndQuery,
        about: About,
    ) -> Result<(HeaderMap, A), Why>
    where
        R: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut grpc = self.grpc()?;
        grpc.ready().await.map_err(|error| Why::Unreachable(error.to_string()))?;
        let response = grpc.unary(with(request, headers), path, ProstCodec::<R, A>::default()).await;
        let (metadata, body, _) = response.map_err(|status| fault::of_grpc(&status, about))?.into_parts();
        Ok((metadata.into_headers(), body))
    }

    async fn many<R, A>(
        &self,
        request: R,
        headers: HeaderMap,
        path: PathAndQuery,
        about: About,
        read: impl Fn(A) -> Result<StreamResponse, Why> + Send + 'static,
    ) -> Result<Opened, Why>
    where
        R: prost::Message + 'static,
        A: prost::Message + Default + Send + 'static,
    {
        let mut grpc = self.grpc()?;
        grpc.ready().await.map_err(|error| Why::Unreachable(error.to_string()))?;
        let codec = ProstCodec::<R, A>::default();
        let response = grpc.server_streaming(with(request, headers), path, codec).await;
        let (metadata, body, _) = response.map_err(|status| fault::of_grpc(&status, about))?.into_parts();
        let access_token = access_token(&metadata.into_headers());
        // The channel's own keep-alive finds out whether the agent is still there: gRPC has no comments to send.
        let events = stream::unfold(Some((body, read)), move |open| async move {
            let (mut body, read) = open?;
            let next = match body.next().await? {
                Ok(body) => read(body).map(|body| Event { id: None, body }),
                Err(status) => Err(fault::of_grpc(&status, about)),
            };
            let rest = next.is_ok().then_some((body, read));
            Some((next, rest))
        });
        Ok(Opened { events: Box::pin(events), access_token })
    }

    fn grpc(&self) -> Result<Grpc<Channel>, Why> {
        let unusable = |error| Why::Unusable(format!("{} is no gRPC address: {error}", self.interface.url));
        let origin = self.interface.url.as_str().trim_end_matches('/').parse::<Uri>().map_err(unusable)?;
        let grpc = Grpc::with_origin(Channel(self.shared.http.clone()), origin);
        Ok(grpc.max_decoding_message_size(self.shared.limits.answer_bytes_max))
    }
}

fn path(service: &str, method: &str) -> Result<PathAndQuery, Why> {
    let path = format!("/{service}/{method}");
    path.parse().map_err(|error| Why::Unusable(format!("{path} is no path: {error}")))
}

fn old_path<O: Operation>() -> Result<PathAndQuery, Why> {
    match O::Old::GRPC {
        "" => Err(lacking(O::NAME)),
        method => path(OLD_SERVICE, method),
    }
}

fn old<O: Operation>(
    answer: <O::Old as Legacy<O::Request, O::Answer>>::Answer,
    files: Files,
) -> Result<O::Answer, Why> {
    O::Old::up(answer, files).map_err(|fault| Why::Malformed(fault.message))
}

fn with<R>(request: R, headers: HeaderMap) -> tonic::Request<R> {
    tonic::Request::from_parts(MetadataMap::from_headers(headers), Extensions::default(), request)
}

/// tonic's calls on the client's own HTTP stack. Each request here is one message, so that its body is read first.
#[derive(Clone)]
struct Channel(Http);

impl tower::Service<Request<tonic::body::Body>> for Channel {
    type Response = Response<crate::http::Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        let http = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(|status: Status| BoxError::from(status))?.to_bytes();
            Ok(http.exchange_two(Request::from_parts(parts, body)).await?)
        })
    }
}
