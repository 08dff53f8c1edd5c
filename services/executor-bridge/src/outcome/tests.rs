use super::*;
use weft_proto::wkt::ListValue;

fn turn() -> Turn {
    Turn {
        task_id: "t1".into(),
        context_id: "c1".into(),
        lease: 2,
        key: "m1".into(),
        node: "scanner".into(),
        tool: "sector_movement".into(),
        ..Turn::default()
    }
}

fn ok(result: Option<Value>) -> InvokeResult {
    InvokeResult { ok: true, result, ..InvokeResult::default() }
}

fn rows(n: usize) -> Value {
    Value { kind: Some(Kind::List(ListValue { values: vec![Value::from("row"); n] })) }
}

fn state(step: &Progress) -> TaskState {
    match &step.step {
        Some(progress::Step::Status(status)) => status.state(),
        other => panic!("not a status: {other:?}"),
    }
}

fn said(step: &Progress) -> &Message {
    match &step.step {
        Some(progress::Step::Status(TaskStatus { message: Some(message), .. })) => message,
        other => panic!("no message: {other:?}"),
    }
}

fn outcome_of(step: &Progress) -> Option<&Kind> {
    let weft = said(step).metadata.as_ref()?.fields.get(METADATA_KEY)?;
    let Some(Kind::Struct(weft)) = &weft.kind else { return None };
    weft.fields.get("outcome")?.kind.as_ref()
}

fn chunk(step: &Progress) -> &Artifact {
    match &step.step {
        Some(progress::Step::Artifact(chunk)) => chunk.artifact.as_ref().unwrap(),
        other => panic!("not an artifact: {other:?}"),
    }
}

fn media_types(turn: &Turn) -> Vec<String> {
    let steps = settled(turn, ok(Some(rows(2))), Said::default());
    chunk(&steps[0]).parts.iter().map(|part| part.media_type.clone()).collect()
}

#[test]
fn a_result_becomes_one_artifact_named_after_the_tool_and_the_task_is_completed() {
    let steps = settled(&turn(), ok(Some(rows(2))), Said::default());
    let artifact = chunk(&steps[0]);
    assert_eq!(
        (artifact.artifact_id.as_str(), artifact.name.as_str()),
        ("sector_movement-m1", "sector_movement")
    );
    assert_eq!(artifact.parts[0].content, Some(part::Content::Data(rows(2))));
    assert_eq!(artifact.parts[1].content, Some(part::Content::Text("sector_movement: 2 rows".into())));
    assert_eq!((steps.len(), state(&steps[1])), (2, TaskState::Completed));
}

#[test]
fn the_parts_follow_what_the_caller_takes_and_the_capability_gives() {
    assert_eq!(media_types(&turn()), [JSON, TEXT]);
    let accepts =
        |modes: &[&str]| Turn { accepted: modes.iter().map(ToString::to_string).collect(), ..turn() };
    assert_eq!(media_types(&accepts(&["text/*"])), [TEXT]);
    assert_eq!(media_types(&accepts(&["text"])), [TEXT]);
    assert_eq!(media_types(&accepts(&["application/json; charset=utf-8"])), [JSON]);
    assert_eq!(media_types(&accepts(&["image/png"])), [JSON, TEXT]);
    let offers = Turn { offered: vec![JSON.into()], ..accepts(&["*/*"]) };
    assert_eq!(media_types(&offers), [JSON]);
}

#[test]
fn an_empty_answer_is_completed_and_says_that_it_is_empty() {
    let nothing = settled(&turn(), ok(None), Said::default());
    let null = settled(&turn(), ok(Some(Value { kind: Some(Kind::Null(0)) })), Said::default());
    assert_eq!(nothing, null);
    assert_eq!((nothing.len(), state(&nothing[0])), (1, TaskState::Completed));
    assert_eq!(outcome_of(&nothing[0]), Some(&Kind::String("empty".into())));
    let no_rows = InvokeResult { empty: true, ..ok(Some(rows(0))) };
    let steps = settled(&turn(), no_rows, Said::default());
    assert_eq!((steps.len(), outcome_of(&steps[1])), (2, Some(&Kind::String("empty".into()))));
}

#[test]
fn steps_that_said_everything_get_no_second_end() {
    let ended = Said { any: true, ended: true, failed: false };
    assert!(settled(&turn(), ok(None), ended).is_empty());
    assert!(settled(&turn(), InvokeResult::default(), ended).is_empty());
    let open = Said { any: true, ..Said::default() };
    let steps = settled(&turn(), ok(None), open);
    assert_eq!((steps.len(), state(&steps[0])), (1, TaskState::Completed));
    assert_eq!(steps, [status(TaskState::Completed, None)]);
}

#[test]
fn a_failure_names_code_node_and_tool() {
    let refused =
        InvokeResult { code: "UNKNOWN_TOOL".into(), error: "no such tool".into(), denied: true, ..ok(None) };
    let steps = settled(&turn(), InvokeResult { ok: false, ..refused }, Said::default());
    assert_eq!(state(&steps[0]), TaskState::Failed);
    let facts = object([
        ("code", Value::from("UNKNOWN_TOOL")),
        ("node", Value::from("scanner")),
        ("tool", Value::from("sector_movement")),
    ]);
    assert_eq!(said(&steps[0]).parts[1].content, Some(part::Content::Data(facts)));
    assert_eq!(outcome_of(&steps[0]), Some(&Kind::String("denied".into())));
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    let long = Value { kind: Some(Kind::String("é".repeat(1_000))) };
    assert_eq!(summary("tool", &long).chars().count(), TEXT_CHARS_MAX + 1);
}

#[test]
fn what_ends_a_run_is_every_terminal_state_and_every_wait_for_the_caller() {
    let ending = [
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::Rejected,
        TaskState::InputRequired,
        TaskState::AuthRequired,
    ];
    for state in ending {
        assert!(ends(&status(state, None)), "{state:?}");
    }
    for state in [TaskState::Unspecified, TaskState::Submitted, TaskState::Working] {
        assert!(!ends(&status(state, None)), "{state:?}");
    }
}
