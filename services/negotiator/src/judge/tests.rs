use super::*;
use weft_proto::wkt::{Kind, ListValue, Struct, Value};

fn value(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

fn number(n: f64) -> Value {
    value(Kind::Number(n))
}

fn text(t: &str) -> Value {
    value(Kind::String(t.into()))
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Struct {
    Struct { fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

fn constraint(code: &str, expression: &str, reason: &str) -> Constraint {
    Constraint { code: code.into(), expression: expression.into(), reason: reason.into() }
}

/// The constraints of a customer side, as a fleet declares them.
fn customer_side() -> Vec<Constraint> {
    vec![
        constraint(
            "NO_SIGNAL",
            "has(proposal.signal) && proposal.signal != ''",
            "{sector} comes without a signal",
        ),
        constraint(
            "UNALIGNED_ENTITY",
            "proposal.entities.all(e, e in facts.aligned)",
            "an entity of {sector} is not aligned with a customer",
        ),
        constraint("TODAY_DROP", "!(proposal.today < -5.0)", "{sector} moved {today} % today, below -5"),
    ]
}

fn proposal(signal: &str, entity: &str, today: f64) -> Struct {
    object([
        ("sector", text("shipbuilding")),
        ("signal", text(signal)),
        ("entities", value(Kind::List(ListValue { values: vec![text(entity)] }))),
        ("today", number(today)),
    ])
}

fn verdict(proposal: Struct) -> JudgeResponse {
    let aligned = value(Kind::List(ListValue { values: vec![text("known")] }));
    let facts = object([("aligned", aligned)]);
    let request = JudgeRequest { constraints: customer_side(), proposal: Some(proposal), facts: Some(facts) };
    judge(&request).unwrap()
}

#[test]
fn the_first_constraint_that_refuses_gives_its_code_and_its_filled_reason() {
    let check = |proposal, code: &str, reason: &str| {
        let response = verdict(proposal);
        assert_eq!((response.veto, response.code.as_str(), response.reason.as_str()), (true, code, reason));
    };
    check(proposal("", "unknown", -9.0), "NO_SIGNAL", "shipbuilding comes without a signal");
    check(
        proposal("up", "unknown", -9.0),
        "UNALIGNED_ENTITY",
        "an entity of shipbuilding is not aligned with a customer",
    );
    check(proposal("up", "known", -5.01), "TODAY_DROP", "shipbuilding moved -5.01 % today, below -5");
}

#[test]
fn a_drop_of_exactly_five_percent_passes_and_one_below_does_not() {
    for (today, veto) in [(-5.0, false), (-5.000_001, true), (-4.99, false), (0.0, false), (3.0, false)] {
        let response = verdict(proposal("up", "known", today));
        assert_eq!(response.veto, veto, "{today}");
        assert_eq!(response.code.is_empty(), !veto);
        assert_eq!(response.reason.is_empty(), !veto);
    }
}

#[test]
fn without_constraints_everything_passes() {
    assert_eq!(judge(&JudgeRequest::default()), Ok(JudgeResponse::default()));
}

#[test]
fn a_constraint_that_is_not_whole_is_an_error_that_names_the_field() {
    let good = constraint("CODE", "true", "because");
    let check = |constraint: Constraint, field: &str| {
        let request = JudgeRequest { constraints: vec![good.clone(), constraint], ..JudgeRequest::default() };
        let fault = judge(&request).unwrap_err();
        assert_eq!(fault.violations.len(), 1, "{fault}");
        assert_eq!(fault.violations[0].field, field);
    };
    check(constraint("", "true", "because"), "constraints[1].code");
    check(constraint("CODE", " ", "because"), "constraints[1].expression");
    check(constraint("CODE", "true", ""), "constraints[1].reason");
    check(constraint("CODE", "1 + 1", "because"), "constraints[1].expression");
    check(constraint("CODE", "nobody == 1", "because"), "constraints[1].expression");
    check(constraint("CODE", "proposal.nothing == 1", "because"), "constraints[1].expression");
    check(constraint("CODE", "((", "because"), "constraints[1].expression");
    check(constraint("CODE", "false", "because of {nothing}"), "constraints[1].reason");
    check(constraint("CODE", &"1".repeat(EXPRESSION_BYTES_MAX + 1), "because"), "constraints[1].expression");
}

#[test]
fn more_constraints_than_the_bound_are_refused() {
    let constraints = vec![constraint("CODE", "true", "because"); CONSTRAINTS_MAX + 1];
    let fault = judge(&JudgeRequest { constraints, ..JudgeRequest::default() }).unwrap_err();
    assert_eq!(fault.violations[0].field, "constraints");
}
