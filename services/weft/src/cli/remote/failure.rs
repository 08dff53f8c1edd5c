//! What an error of the client means for a command, and what can be done about it.

use weft_client::{Error, Why};
use weft_core::Kind;

use crate::cli::Failure;

/// Of a call to the mesh at `base`.
pub(super) fn of(base: &str, error: &Error) -> Failure {
    match &error.why {
        Why::Refused(refusal) => {
            let (fault, kind) = (&refusal.fault, refusal.fault.kind);
            Failure::Refused(format!("{} ({}){}", fault.message, kind.row().jsonrpc, remedy(kind)))
        }
        Why::Unreachable(text) if text.contains("UnknownIssuer") => Failure::Unreachable(format!(
            "{base} shows a certificate of an authority that is not known here: name its PEM file with --ca, or in the \
             profile ({text})"
        )),
        Why::Unreachable(text) => {
            Failure::Unreachable(format!("cannot reach {base}: {text}; is the mesh up? (`weft up`)"))
        }
        Why::Broken(_) | Why::TimedOut(_) | Why::Unfinished(_) => {
            let next = error.trail.task_id.as_ref().map(|id| format!("; see `weft tasks get {id}`"));
            Failure::Unreachable(format!("{}{}", error.why, next.unwrap_or_default()))
        }
        Why::Unusable(_) => Failure::Usage(error.to_string()),
        _ => Failure::Refused(error.to_string()),
    }
}

fn remedy(kind: Kind) -> &'static str {
    match kind {
        Kind::Unauthenticated => {
            "; the mesh does not know who calls: give a token with --token-file, WEFT_TOKEN or a profile (`weft profile \
             add`); its operator makes one with `weft access add NAME`"
        }
        Kind::Denied => {
            "; who calls is known, but may not do this: have the operator of the mesh look at your scopes and \
             capabilities, or call as somebody else (--profile, --token-file)"
        }
        _ => "",
    }
}
