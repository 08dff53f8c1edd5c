//! One party's verdict on one proposal: the first constraint that refuses it, with its code and its reason. A
//! constraint that could refuse without a reason is itself an error.

use weft_core::{Fault, Violation};
use weft_proto::weft::{Constraint, JudgeRequest, JudgeResponse};

use crate::expression::Subject;
use crate::reason;

/// Most constraints of one party.
const CONSTRAINTS_MAX: usize = 64;
/// Longest code, in bytes.
const CODE_BYTES_MAX: usize = 64;
/// Longest expression, in bytes.
const EXPRESSION_BYTES_MAX: usize = 2_048;
/// Longest reason, in bytes.
const REASON_BYTES_MAX: usize = 1_024;

/// Judges a proposal.
///
/// # Errors
/// `Invalid` naming `constraints[i].code`, `.expression` or `.reason`.
pub(crate) fn judge(request: &JudgeRequest) -> Result<JudgeResponse, Fault> {
    let violations = violations(&request.constraints);
    if !violations.is_empty() {
        return Err(Fault::violated(violations));
    }
    let subject = Subject::new(request.proposal.as_ref(), request.facts.as_ref());
    for (index, constraint) in request.constraints.iter().enumerate() {
        let passes = subject
            .passes(&constraint.expression)
            .map_err(|problem| Fault::invalid(field(index, "expression"), problem))?;
        if !passes {
            return veto(index, constraint, request);
        }
    }
    Ok(JudgeResponse::default())
}

fn veto(index: usize, constraint: &Constraint, request: &JudgeRequest) -> Result<JudgeResponse, Fault> {
    let reason = reason::fill(&constraint.reason, request.proposal.as_ref(), request.facts.as_ref())
        .map_err(|name| {
            let problem = format!(
                "`{{{name}}}` is no text, number or flag of the proposal or the facts: name one that is"
            );
            Fault::invalid(field(index, "reason"), problem)
        })?;
    Ok(JudgeResponse { veto: true, code: constraint.code.clone(), reason })
}

/// What is wrong with the constraints by themselves.
fn violations(constraints: &[Constraint]) -> Vec<Violation> {
    if constraints.len() > CONSTRAINTS_MAX {
        let description = format!("{} are too many: at most {CONSTRAINTS_MAX}", constraints.len());
        return vec![Violation { field: "constraints".to_owned(), description }];
    }
    let checked = constraints.iter().enumerate().flat_map(|(index, constraint)| {
        [
            ("code", &constraint.code, CODE_BYTES_MAX),
            ("expression", &constraint.expression, EXPRESSION_BYTES_MAX),
            ("reason", &constraint.reason, REASON_BYTES_MAX),
        ]
        .map(|(name, text, bytes_max)| (field(index, name), text, bytes_max))
    });
    checked
        .filter_map(|(field, text, bytes_max)| {
            let description = if text.trim().is_empty() {
                "is missing: a constraint needs a code, an expression and a reason".to_owned()
            } else if text.len() > bytes_max {
                format!("is {} bytes long: at most {bytes_max}", text.len())
            } else {
                return None;
            };
            Some(Violation { field, description })
        })
        .collect()
}

fn field(index: usize, name: &str) -> String {
    format!("constraints[{index}].{name}")
}

#[cfg(test)]
mod tests;
