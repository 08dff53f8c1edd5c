//! What the store reaches beyond itself, for tests: a signer that keeps its secrets badly, and names as a test likes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use weft_chassis::peer;
use weft_proto::weft::signer_server::{Signer, SignerServer};
use weft_proto::weft::{
    JwksRequest, JwksResponse, SignCardRequest, SignCardResponse, SignRequest, SignResponse, UnwrapRequest,
    UnwrapResponse, VerifyRequest, VerifyResponse, WrapRequest, WrapResponse,
};
use weft_tasks::{Names, Outside};

/// Every wrap is there, no name is known.
pub(crate) fn plain() -> Outside {
    outside(&FakeSigner::default(), &FakeNames::default())
}

pub(crate) fn outside(signer: &FakeSigner, names: &FakeNames) -> Outside {
    let routes = Routes::new(SignerServer::new(signer.clone()));
    Outside { signer: peer::local(routes), names: Arc::new(names.clone()) }
}

/// Answers each name with its lists of addresses, one after the other; the last one stays.
#[derive(Clone, Default)]
pub(crate) struct FakeNames(Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>);

impl FakeNames {
    pub(crate) fn know(&self, name: &str, answers: &[&[&str]]) {
        let answers = answers.iter().map(|list| list.iter().map(|text| text.parse().unwrap()).collect());
        self.0.lock().unwrap().insert(name.into(), answers.collect());
    }
}

impl Names for FakeNames {
    fn addresses(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let mut known = self.0.lock().unwrap();
        let found = known.get_mut(host).map(|answers| match answers.as_mut_slice() {
            [only] => only.clone(),
            _ => answers.remove(0),
        });
        Box::pin(std::future::ready(found.ok_or_else(|| std::io::Error::other("no such name"))))
    }
}

/// Turns every bit; can be down.
#[derive(Clone, Default)]
pub(crate) struct FakeSigner {
    pub(crate) down: Arc<AtomicBool>,
}

impl FakeSigner {
    fn up(&self) -> Result<(), Status> {
        if self.down.load(Ordering::SeqCst) { Err(Status::unavailable("the fake is down")) } else { Ok(()) }
    }
}

fn turned(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

#[tonic::async_trait]
impl Signer for FakeSigner {
    async fn wrap(&self, request: Request<WrapRequest>) -> Result<Response<WrapResponse>, Status> {
        self.up()?;
        let WrapRequest { secret, context } = request.into_inner();
        let wrapped = [turned(&context), vec![0], turned(&secret)].concat();
        Ok(Response::new(WrapResponse { wrapped }))
    }

    async fn unwrap(&self, request: Request<UnwrapRequest>) -> Result<Response<UnwrapResponse>, Status> {
        self.up()?;
        let UnwrapRequest { wrapped, context } = request.into_inner();
        let begin = [turned(&context), vec![0]].concat();
        let secret =
            wrapped.strip_prefix(begin.as_slice()).ok_or_else(|| Status::permission_denied("moved"))?;
        Ok(Response::new(UnwrapResponse { secret: turned(secret) }))
    }

    async fn sign(&self, _: Request<SignRequest>) -> Result<Response<SignResponse>, Status> {
        Err(Status::unimplemented("the task store signs nothing"))
    }

    async fn verify(&self, _: Request<VerifyRequest>) -> Result<Response<VerifyResponse>, Status> {
        Err(Status::unimplemented("the task store verifies nothing"))
    }

    async fn jwks(&self, _: Request<JwksRequest>) -> Result<Response<JwksResponse>, Status> {
        Err(Status::unimplemented("the task store asks for no keys"))
    }

    async fn sign_card(&self, _: Request<SignCardRequest>) -> Result<Response<SignCardResponse>, Status> {
        Err(Status::unimplemented("the task store signs nothing"))
    }
}
