use weft_proto::a2a::SendMessageConfiguration;

use super::*;

fn text(text: &str) -> Part {
    Part { content: Some(Content::Text(text.to_owned())), ..Part::default() }
}

fn raw(media_type: &str) -> Part {
    Part { content: Some(Content::Raw(vec![1])), media_type: media_type.to_owned(), ..Part::default() }
}

fn request(parts: Vec<Part>) -> SendMessageRequest {
    let message = Message { message_id: "m1".into(), role: Role::User.into(), parts, ..Message::default() };
    SendMessageRequest { message: Some(message), ..SendMessageRequest::default() }
}

fn fields(change: impl FnOnce(&mut SendMessageRequest)) -> Vec<String> {
    let mut request = request(vec![text("hello")]);
    change(&mut request);
    match admit(&request) {
        Ok(_) => Vec::new(),
        Err(fault) => fault.violations.into_iter().map(|v| v.field).collect(),
    }
}

fn message(request: &mut SendMessageRequest) -> &mut Message {
    request.message.as_mut().unwrap()
}

#[test]
fn a_plain_message_is_admitted() {
    assert_eq!(fields(|_| {}), [""; 0]);
    assert_eq!(fields(|r| message(r).context_id = "café 1/2".into()), [""; 0]);
    assert_eq!(fields(|r| message(r).message_id = "é".repeat(ID_CHARS_MAX)), [""; 0]);
}

#[test]
fn each_broken_field_is_named_by_its_path() {
    assert_eq!(fields(|r| r.message = None), ["message"]);
    assert_eq!(fields(|r| message(r).message_id.clear()), ["message.messageId"]);
    for bad in [" ", "\t", "a\nb", "a\u{0}", &"x".repeat(ID_CHARS_MAX + 1)] {
        assert_eq!(fields(|r| message(r).message_id = bad.into()), ["message.messageId"], "{bad:?}");
        assert_eq!(fields(|r| message(r).context_id = bad.into()), ["message.contextId"], "{bad:?}");
        assert_eq!(fields(|r| message(r).task_id = bad.into()), ["message.taskId"], "{bad:?}");
    }
    for role in [Role::Unspecified as i32, Role::Agent as i32, 77] {
        assert_eq!(fields(|r| message(r).role = role), ["message.role"], "{role}");
    }
    assert_eq!(fields(|r| message(r).parts.clear()), ["message.parts"]);
    assert_eq!(fields(|r| message(r).parts = vec![text("a"); PARTS_MAX + 1]), ["message.parts"]);
    assert_eq!(fields(|r| message(r).parts.push(Part::default())), ["message.parts[1]"]);
    assert_eq!(
        fields(|r| message(r).reference_task_ids = vec!["a".into(), " ".into()]),
        ["message.referenceTaskIds[1]"]
    );
    let length =
        |n| SendMessageConfiguration { history_length: Some(n), ..SendMessageConfiguration::default() };
    assert_eq!(fields(|r| r.configuration = Some(length(-1))), ["configuration.historyLength"]);
    assert_eq!(fields(|r| r.configuration = Some(length(0))), [""; 0]);
}

#[test]
fn all_broken_fields_are_named_at_once_and_their_number_is_bounded() {
    let both = fields(|r| {
        message(r).message_id.clear();
        message(r).parts.clear();
    });
    assert_eq!(both, ["message.messageId", "message.parts"]);
    assert_eq!(fields(|r| message(r).parts = vec![Part::default(); 500]).len(), VIOLATIONS_MAX);
}

#[test]
fn only_a_declared_media_type_is_judged() {
    let check = |part: Part, input: &[&str]| {
        let input: Vec<String> = input.iter().map(|&m| m.to_owned()).collect();
        check_modes(&request(vec![text("x"), part]), &input, &[])
            .map_err(|f| (f.kind, f.violations[0].field.clone()))
    };
    let refused = Err((Kind::ContentTypeNotSupported, "message.parts[1].mediaType".to_owned()));
    assert_eq!(check(raw("application/x-nope"), &[]), refused);
    assert_eq!(check(raw("application/x-nope"), &["text/plain"]), refused);
    assert_eq!(check(raw("application/x-nope"), &["*/*"]), Ok(()));
    assert_eq!(check(raw("image/png"), &["image/*"]), Ok(()));
    assert_eq!(check(raw(""), &["text/plain"]), Ok(()));
    let markdown = Part { media_type: "text/markdown".into(), ..text("# x") };
    assert_eq!(check(markdown.clone(), &["text/plain"]), Ok(()));
    assert_eq!(check(markdown, &["application/json"]), refused);
}

#[test]
fn accepted_output_modes_must_meet_what_is_given() {
    let check = |accepted: &[&str], output: &[&str]| {
        let mut request = request(vec![text("x")]);
        request.configuration = Some(SendMessageConfiguration {
            accepted_output_modes: accepted.iter().map(|&m| m.to_owned()).collect(),
            ..SendMessageConfiguration::default()
        });
        let output: Vec<String> = output.iter().map(|&m| m.to_owned()).collect();
        check_modes(&request, &[], &output).is_ok()
    };
    assert!(check(&[], &["text/plain"]));
    assert!(check(&["image/png", "text/plain; charset=utf-8"], &["text/plain"]));
    assert!(check(&["*/*"], &["text/plain"]));
    assert!(check(&["text"], &["text/plain"]) && check(&["text"], &[]), "as clients from before v1.0 say it");
    assert!(!check(&["image/png"], &["text/plain"]));
    assert!(!check(&["image/png"], &[]) && !check(&["image"], &["text/plain"]));
    assert!(!check(&[""], &["text/plain"]));
}

#[test]
fn an_idempotency_key_is_visible_and_bounded() {
    assert!(idempotency_key(&"k".repeat(256)).is_ok());
    for bad in ["", " ", "a b", "é", &"k".repeat(257)] {
        assert!(idempotency_key(bad).is_err(), "{bad:?}");
    }
}
