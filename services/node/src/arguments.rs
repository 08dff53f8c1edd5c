//! What a caller may say beside the tool's name: equality on declared fields, and how many rows.

use std::collections::BTreeMap;

use weft_core::manifest::Tool;
use weft_proto::wkt::{Kind, Struct, Value};

use crate::failure::Failure;

/// The argument that every tool takes.
const LIMIT: &str = "limit";

/// Arguments that fit their tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arguments {
    equal: BTreeMap<String, Value>,
    rows_max: usize,
}

impl Arguments {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// [`Failure::Argument`] that names the first one that is not declared or does not fit.
    pub(crate) fn read(tool: &Tool, given: Option<&Struct>) -> Result<Arguments, Failure> {
        let mut arguments = Arguments { equal: BTreeMap::new(), rows_max: tool.rows_max };
        for (name, value) in given.iter().flat_map(|given| &given.fields) {
            if name == LIMIT {
                arguments.rows_max = limit(tool, value)?;
            } else if !tool.filters.contains(name) {
                let known =
                    tool.filters.iter().map(String::as_str).chain([LIMIT]).collect::<Vec<_>>().join(", ");
                return Err(argument(name, format!("not an argument of this tool; it takes {known}")));
            } else if matches!(value.kind, Some(Kind::String(_) | Kind::Number(_) | Kind::Bool(_))) {
                arguments.equal.insert(name.clone(), value.clone());
            } else {
                return Err(argument(name, "must be a text, a number, true or false".to_owned()));
            }
        }
        Ok(arguments)
    }

    /// True when the row's fields have the values that were asked for.
    pub(crate) fn hold<'r>(&self, field: impl Fn(&str) -> Option<&'r Value>) -> bool {
        self.equal.iter().all(|(name, wanted)| field(name) == Some(wanted))
    }

    /// Most rows of the answer.
    pub(crate) fn rows_max(&self) -> usize {
        self.rows_max
    }
}

fn limit(tool: &Tool, value: &Value) -> Result<usize, Failure> {
    let bad = || argument(LIMIT, format!("must be a whole number from 1 to {}", tool.rows_max));
    let Some(Kind::Number(n)) = value.kind else { return Err(bad()) };
    // Casts between the two are exact below the bound of rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    if n.fract() == 0.0 && (1.0..=tool.rows_max as f64).contains(&n) { Ok(n as usize) } else { Err(bad()) }
}

fn argument(name: &str, remedy: String) -> Failure {
    let name = name.chars().filter(|c| !c.is_control()).take(64).collect();
    Failure::Argument(name, remedy)
}
