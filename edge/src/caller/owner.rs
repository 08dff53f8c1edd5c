//! To whom belongs what a call makes and sees.

use http::{HeaderMap, HeaderName};
use weft_chassis::Env;
use weft_core::{Fault, Owner};

use super::single;
use crate::a2a::Operation;
use crate::access::{self, Who};

/// Opens what an anonymous caller has made: sent by them, or made here and given back once.
pub(super) const TASK_ACCESS_TOKEN: HeaderName = HeaderName::from_static("task-access-token");
/// How long a task access token is, in characters.
const TASK_ACCESS_CHARS: std::ops::RangeInclusive<usize> = 20..=256;

/// To whom it belongs, and the task access token that was made for it.
pub(super) fn of(
    who: &Who,
    env: &Env,
    headers: &HeaderMap,
    operation: Operation,
) -> Result<(Owner, Option<String>), Fault> {
    if let Some(owner) = &who.owner {
        return Ok((owner.clone(), None));
    }
    if let Some(token) = task_access(headers)? {
        return Ok((Owner::bearer_of(token), None));
    }
    if !operation.sends() && operation != Operation::GetExtendedAgentCard {
        return Err(access::task_access());
    }
    let mut random = [0; 32];
    env.fill(&mut random);
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((Owner::bearer_of(&token), operation.sends().then_some(token)))
}

fn task_access(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let Some(token) = single(headers, &TASK_ACCESS_TOKEN, "Task-Access-Token")? else { return Ok(None) };
    if TASK_ACCESS_CHARS.contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(Some(token));
    }
    Err(Fault::invalid("Task-Access-Token", "must be 20 to 256 visible ASCII characters"))
}
