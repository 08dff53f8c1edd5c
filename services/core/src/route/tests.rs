use weft_proto::a2a::{Message, Part, Role, TaskState};
use weft_proto::wkt::{Struct, Value};

use super::*;
use crate::{Kind, value};

fn capability(id: &str, name: &str, examples: &[&str], input: &[&str]) -> Capability {
    let texts = |list: &[&str]| list.iter().map(|&t| t.to_owned()).collect();
    Capability {
        id: id.into(),
        name: name.into(),
        examples: texts(examples),
        input_modes: texts(input),
        ..Capability::default()
    }
}

fn index() -> Index {
    Index::new(vec![
        capability(
            "sector.movement",
            "Sector movement",
            &["Which sectors moved most?", "哪些板块涨得最多"],
            &[],
        ),
        capability(
            "network.state",
            "Network state",
            &["What is the state of the local network?"],
            &["text/plain"],
        ),
        capability("customer.reach", "Customer reach", &["Which customers can be reached?"], &["image/png"]),
    ])
}

fn ask(parts: Vec<Part>, metadata: Option<Struct>) -> SendMessageRequest {
    let message =
        Message { message_id: "m".into(), role: Role::User.into(), parts, metadata, ..Message::default() };
    SendMessageRequest { message: Some(message), ..SendMessageRequest::default() }
}

fn text(text: &str) -> Part {
    Part { content: Some(Content::Text(text.to_owned())), ..Part::default() }
}

fn data(value: Value) -> Part {
    Part { content: Some(Content::Data(value)), ..Part::default() }
}

fn run(choice: Result<Choice, Fault>) -> (String, bool) {
    match choice.unwrap() {
        Choice::Run(route) => (route.capability, route.explicit),
        Choice::Ask => ("-".to_owned(), false),
    }
}

#[test]
fn text_goes_to_the_capability_it_matches_in_either_language() {
    for (question, expected) in [
        ("which sector is moving the most?", "sector.movement"),
        ("板块今天涨得怎么样", "sector.movement"),
        ("local network state please", "network.state"),
        ("how do I bake bread", "-"),
        ("hello", "-"),
        ("", "-"),
    ] {
        let (capability, explicit) = run(index().choose(&ask(vec![text(question)], None)));
        assert_eq!((capability.as_str(), explicit), (expected, false), "{question}");
    }
}

#[test]
fn a_named_capability_wins_over_the_text() {
    let metadata = value::members([("skillId", value::text("network.state"))]);
    let choice = index().choose(&ask(vec![text("which sectors moved")], Some(metadata)));
    assert_eq!(run(choice), ("network.state".to_owned(), true));

    let named = value::object([
        ("skill", value::text("sector.movement")),
        ("arguments", value::object([("days", value::text("5"))])),
    ]);
    let Choice::Run(route) = index().choose(&ask(vec![text("network"), data(named)], None)).unwrap() else {
        panic!("it is named")
    };
    assert_eq!((route.capability.as_str(), route.explicit), ("sector.movement", true));
    assert_eq!(route.arguments, Some(value::members([("days", value::text("5"))])));
}

#[test]
fn a_wrong_name_is_refused_with_its_field_and_what_is_known() {
    let check = |parts: Vec<Part>, metadata: Option<Struct>, field: &str| {
        let fault = index().choose(&ask(parts, metadata)).unwrap_err();
        assert_eq!((fault.kind, fault.violations[0].field.as_str()), (Kind::Invalid, field));
        fault.message
    };
    let named = |v: Value| Some(value::members([("skillId", v)]));
    let unknown = check(vec![text("x")], named(value::text("nope")), "message.metadata.skillId");
    assert!(unknown.contains("sector.movement, network.state, customer.reach"), "{unknown}");
    check(vec![text("x")], named(value::list([])), "message.metadata.skillId");
    check(vec![data(value::object([("skill", value::list([]))]))], None, "message.parts[0].data.skill");
    let both = data(value::object([("skill", value::text("sector.movement"))]));
    check(vec![both], named(value::text("network.state")), "message.parts[0].data.skill");
    let arguments = value::object([("skill", value::text("network.state")), ("arguments", value::text("x"))]);
    check(vec![data(arguments)], None, "message.parts[0].data.arguments");
}

#[test]
fn media_types_are_held_against_the_chosen_capability() {
    let picture =
        Part { content: Some(Content::Raw(vec![1])), media_type: "image/png".into(), ..Part::default() };
    let named = |id: &str| Some(value::members([("skillId", value::text(id))]));
    let fault = index().choose(&ask(vec![picture.clone()], named("network.state"))).unwrap_err();
    assert_eq!(fault.kind, Kind::ContentTypeNotSupported);
    assert!(index().choose(&ask(vec![picture.clone()], named("customer.reach"))).is_ok());

    let mut follow_up = ask(vec![text("local network state"), picture], None);
    assert!(index().choose(&follow_up).is_err(), "a new message goes to the matched capability");
    follow_up.message.as_mut().unwrap().task_id = "t1".into();
    assert!(
        index().choose(&follow_up).is_ok(),
        "a follow-up goes on with its task's capability, which may take it"
    );
}

#[test]
fn a_capability_may_take_whatever_nothing_else_matches() {
    let mut any = capability("scenario.play", "Scenario", &[], &[]);
    any.phrases = vec!["*".to_owned()];
    let index = Index::new(vec![index().capabilities()[0].clone(), any]);
    assert_eq!(run(index.choose(&ask(vec![text("bake bread")], None))).0, "scenario.play");
    assert_eq!(run(index.choose(&ask(vec![text("which sectors moved most")], None))).0, "sector.movement");
}

#[test]
fn an_example_finds_its_capability_in_a_fleet_too_small_to_rank_and_one_that_two_have_does_not() {
    let alone = Index::new(vec![capability("play.rules", "Play", &["do it twice"], &["text/plain"])]);
    assert_eq!(
        run(alone.choose(&ask(vec![text("Do it twice, please!")], None))),
        ("play.rules".into(), false)
    );
    assert_eq!(alone.choose(&ask(vec![text("and how are you")], None)), Ok(Choice::Ask));
    let both = ["a.b", "c.d"].map(|id| capability(id, "Same", &["do it twice"], &["text/plain"]));
    assert_eq!(Index::new(both.into()).choose(&ask(vec![text("do it twice")], None)), Ok(Choice::Ask));
}

#[test]
fn a_beginning_takes_every_text_that_starts_with_it_and_the_longest_wins() {
    let mut echo = capability("scenario.play", "Scenario", &[], &[]);
    echo.phrases = vec!["Echo *".to_owned(), "回声*".to_owned()];
    let mut loud = capability("scenario.shout", "Shout", &[], &[]);
    loud.phrases = vec!["echo loud *".to_owned()];
    let index = Index::new(vec![index().capabilities()[0].clone(), echo, loud]);
    for (text, expected) in [
        ("echo which sectors moved most", "scenario.play"),
        ("  ECHO x", "scenario.play"),
        ("回声你好", "scenario.play"),
        ("echo loud x", "scenario.shout"),
        ("echoes of the past", "-"),
        ("which sectors moved most, echo", "sector.movement"),
    ] {
        assert_eq!(run(index.choose(&ask(vec![self::text(text)], None))).0, expected, "{text}");
    }
}

#[test]
fn the_menu_lists_every_capability_for_people_and_for_programs() {
    let status = index().menu("m2".to_owned());
    assert_eq!(status.state, TaskState::InputRequired as i32);
    let parts = status.message.unwrap().parts;
    let Some(Content::Text(text)) = &parts[0].content else { panic!("text first") };
    for id in ["sector.movement", "network.state", "customer.reach", "Which sectors moved most?"] {
        assert!(text.contains(id), "{text}");
    }
    assert!(matches!(&parts[1].content, Some(Content::Data(_))));
}
