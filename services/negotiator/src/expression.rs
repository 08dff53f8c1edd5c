//! One CEL expression over `proposal` and `facts`. Numbers are doubles, as in JSON.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cel::{Context, ExecutionError, Program, Value};
use weft_proto::wkt;

/// Longest text of an evaluation error that is passed on, in characters: it may quote values.
const ERROR_CHARS_MAX: usize = 160;

/// What expressions are about.
pub(crate) struct Subject {
    proposal: Value,
    facts: Value,
}

impl Subject {
    pub(crate) fn new(proposal: Option<&wkt::Struct>, facts: Option<&wkt::Struct>) -> Subject {
        let object = |fields: Option<&wkt::Struct>| fields.map_or_else(|| map(&wkt::Struct::default()), map);
        Subject { proposal: object(proposal), facts: object(facts) }
    }

    /// True when the subject passes.
    ///
    /// # Errors
    /// What is wrong with the expression: it does not parse, refers to what is not there, or is not a yes or no.
    pub(crate) fn passes(&self, expression: &str) -> Result<bool, String> {
        // The parser is a generated one; should it panic on some text, then that text is at fault, not the service.
        let result = catch_unwind(AssertUnwindSafe(|| self.evaluate(expression)))
            .unwrap_or_else(|_| Err("is not a CEL expression".to_owned()))?;
        match result {
            Value::Bool(passes) => Ok(passes),
            other => Err(format!("yields {}: must yield true (pass) or false (veto)", other.type_of())),
        }
    }

    fn evaluate(&self, expression: &str) -> Result<Value, String> {
        let program = Program::compile(expression)
            .map_err(|errors| format!("is not a CEL expression: {}", clip(&errors.to_string())))?;
        let mut context = Context::default();
        context.add_variable_from_value("proposal", self.proposal.clone());
        context.add_variable_from_value("facts", self.facts.clone());
        program.execute(&context).map_err(|error| match error {
            ExecutionError::UndeclaredReference(name) => {
                format!("refers to `{name}`: only `proposal`, `facts` and CEL's own functions are known")
            }
            ExecutionError::NoSuchKey(name) => {
                format!("refers to the field `{name}`, which is not there: test it with has(…) first")
            }
            other => format!("cannot be evaluated: {}", clip(&other.to_string())),
        })
    }
}

fn map(object: &wkt::Struct) -> Value {
    let entries: HashMap<String, Value> =
        object.fields.iter().map(|(name, field)| (name.clone(), value(field))).collect();
    Value::Map(entries.into())
}

fn value(json: &wkt::Value) -> Value {
    match &json.kind {
        None | Some(wkt::Kind::Null(_)) => Value::Null,
        Some(wkt::Kind::Bool(flag)) => Value::Bool(*flag),
        Some(wkt::Kind::Number(number)) => Value::Float(*number),
        Some(wkt::Kind::String(text)) => Value::String(Arc::new(text.clone())),
        Some(wkt::Kind::List(list)) => Value::List(Arc::new(list.values.iter().map(value).collect())),
        Some(wkt::Kind::Struct(object)) => map(object),
    }
}

fn clip(text: &str) -> String {
    let line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(ERROR_CHARS_MAX).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        let number = |n| wkt::Value { kind: Some(wkt::Kind::Number(n)) };
        let text = |t: &str| wkt::Value { kind: Some(wkt::Kind::String(t.into())) };
        let list =
            wkt::Value { kind: Some(wkt::Kind::List(wkt::ListValue { values: vec![text("a"), text("b")] })) };
        let proposal = [("change".to_owned(), number(-5.0)), ("names".to_owned(), list)];
        let facts = [("known".to_owned(), text("a"))];
        Subject::new(
            Some(&wkt::Struct { fields: proposal.into() }),
            Some(&wkt::Struct { fields: facts.into() }),
        )
    }

    #[test]
    fn expressions_see_the_proposal_and_the_facts() {
        for (expression, passes) in [
            ("proposal.change >= -5.0", true),
            ("proposal.change < -5.0", false),
            ("facts.known in proposal.names", true),
            ("size(proposal.names) == 2", true),
            ("has(proposal.missing) && proposal.missing > 0.0", false),
            ("proposal.names.exists(n, n == 'c')", false),
        ] {
            assert_eq!(subject().passes(expression), Ok(passes), "{expression}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_expression_is_said() {
        for (expression, part) in [
            ("proposal.", "not a CEL expression"),
            ("((((", "not a CEL expression"),
            ("prpsal.change > 0.0", "`prpsal`"),
            ("proposal.missing > 0.0", "`missing`"),
            ("proposal.change", "must yield true"),
            ("proposal.change > 'a'", "cannot be evaluated"),
        ] {
            let error = subject().passes(expression).unwrap_err();
            assert!(error.contains(part), "{expression}: {error}");
        }
    }
}
