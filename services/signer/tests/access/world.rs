//! A signer with an access file, and what can be asked of it.

use std::path::Path;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio_stream::StreamExt as _;
use weft_chassis::{Env, Peer, peer, status};
use weft_core::{Fault, Kind};
use weft_proto::weft::access_client::AccessClient;
use weft_proto::weft::audit_client::AuditClient;
use weft_proto::weft::{AuditRequest, AuthenticateRequest, AuthenticateResponse};
use weft_signer::{Settings, Signer};

pub(crate) struct World {
    pub(crate) data: TempDir,
    pub(crate) env: Env,
    pub(crate) client: AccessClient<Peer>,
    pub(crate) audit: AuditClient<Peer>,
}

impl World {
    /// A signer whose access file is `access`.
    pub(crate) fn new(access: &str) -> World {
        World::prepared(access, |_| {})
    }

    /// After `prepare` has put further files into its data folder.
    pub(crate) fn prepared(access: &str, prepare: impl FnOnce(&Path)) -> World {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("access.toml"), access).unwrap();
        prepare(data.path());
        let env = Env::system();
        World::open(data, env)
    }

    /// With whatever lies in the data folder.
    pub(crate) fn open(data: TempDir, env: Env) -> World {
        let signer = Signer::open(&settings(), data.path(), &env).unwrap();
        let peer = peer::local(signer.routes());
        World { data, env, client: AccessClient::new(peer.clone()), audit: AuditClient::new(peer) }
    }

    /// Waits until the record holds so many refusals of an access file.
    pub(crate) async fn files_refused(&self, count: usize) {
        let request = AuditRequest { follow: true, ..AuditRequest::default() };
        let events = self.audit.clone().read(request).await.unwrap().into_inner();
        let refusals = events.filter(|event| event.as_ref().unwrap().reason == "FILE_REFUSED");
        assert_eq!(refusals.take(count).collect::<Vec<_>>().await.len(), count);
    }

    /// Puts another access file in the place of the present one.
    pub(crate) fn write(&self, access: &str) {
        let unfinished = self.data.path().join("access.new");
        std::fs::write(&unfinished, access).unwrap();
        std::fs::rename(unfinished, self.data.path().join("access.toml")).unwrap();
    }

    pub(crate) async fn ask(&self, request: AuthenticateRequest) -> Result<AuthenticateResponse, Fault> {
        let answer = self.client.clone().authenticate(request).await;
        answer.map(tonic::Response::into_inner).map_err(|refused| status::fault(&refused))
    }

    pub(crate) async fn bearer(&self, token: &str) -> Result<AuthenticateResponse, Fault> {
        self.ask(AuthenticateRequest { bearer: token.to_owned(), ..Default::default() }).await
    }

    /// How often somebody was not let in for that reason.
    pub(crate) fn refused(&self, code: &str) -> u64 {
        let text = self.env.metrics().render();
        let mark = format!("weft_signer_authentications_failed_total{{code=\"{code}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&mark)).map_or(0, |count| count.parse().unwrap())
    }

    /// Asserts that it is refused for that reason, and that the answer does not say so.
    pub(crate) async fn assert_refused(&self, request: AuthenticateRequest, code: &str) {
        let before = self.refused(code);
        let fault = self.ask(request).await.expect_err(code);
        assert_eq!(
            fault,
            Fault::new(Kind::Unauthenticated, "the credentials of this call were not accepted"),
            "{code}"
        );
        assert_eq!(self.refused(code), before + 1, "{code}: {}", self.env.metrics().render());
    }

    pub(crate) async fn assert_token_refused(&self, token: &str, code: &str) {
        let request = AuthenticateRequest { bearer: token.to_owned(), ..Default::default() };
        self.assert_refused(request, code).await;
    }
}

pub(crate) fn settings() -> Settings {
    Settings { access_poll_ms: 20, ..Settings::default() }
}

/// As the access file keeps it.
pub(crate) fn digest(secret: &[u8]) -> String {
    let hex: String = Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
