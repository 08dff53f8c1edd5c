//! The rules of ProtoJSON, one table each.

use serde::{Serialize, de::DeserializeOwned};
use weft_proto::a2a::{
    AgentCapabilities, AgentCard, GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest,
    ListTasksResponse, Message, Part, SecurityRequirement, SendMessageRequest, SendMessageResponse, Task,
    TaskStatus, part::Content,
};
use weft_proto::json::{self, JsonFault};
use weft_proto::weft::{AppendRequest, InvokeResult, SignRequest, SubscribeRequest, TaskEvent};
use weft_proto::wkt::Value;

fn read<T: DeserializeOwned>(text: &str) -> T {
    json::decode(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn fault<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> JsonFault {
    json::decode::<T>(text.as_bytes()).expect_err(text)
}

fn written<T: Serialize>(message: &T) -> String {
    json::encode_string(message).expect("the message has a JSON form")
}

/// Reads and writes again.
fn through<T: DeserializeOwned + Serialize>(text: &str) -> String {
    written(&read::<T>(text))
}

#[test]
fn names_come_in_both_spellings_and_go_out_in_camel_case() {
    let expected = r#"{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"text":"hi","mediaType":"text/plain"}]}"#;
    let proto = r#"{"message_id":"m","context_id":"c","role":"ROLE_USER","parts":[{"text":"hi","media_type":"text/plain"}]}"#;
    assert_eq!(through::<Message>(expected), expected);
    assert_eq!(through::<Message>(proto), expected);
}

#[test]
fn a_field_given_twice_is_refused_in_any_spelling() {
    for text in [
        r#"{"contextId":"a","contextId":"a"}"#,
        r#"{"contextId":"a","context_id":"b"}"#,
        r#"{"context_id":null,"contextId":"b"}"#,
    ] {
        assert_eq!(fault::<Message>(text).reason, "contextId is given twice", "{text}");
    }
    let nested = fault::<SendMessageRequest>(
        r#"{"message":{"parts":[{"text":"a"},{"url":"u","filename":"f","filename":"f"}]}}"#,
    );
    assert_eq!(nested.path, "message.parts[1]");
    let map = fault::<SecurityRequirement>(r#"{"schemes":{"k":{"list":[]},"k":{}}}"#);
    assert_eq!((map.path.as_str(), map.reason.as_str()), ("schemes", "\"k\" is given twice"));
}

#[test]
fn null_is_the_default_of_every_kind_of_field() {
    let nulls = r#"{"tenant":null,"message":{"messageId":null,"role":null,"parts":null,"metadata":null,"extensions":null},
        "configuration":{"historyLength":null,"returnImmediately":null,"acceptedOutputModes":null},"metadata":null}"#;
    let request: SendMessageRequest = read(nulls);
    let configuration = request.configuration.expect("an object is not null");
    assert_eq!(configuration, weft_proto::a2a::SendMessageConfiguration::default());
    assert_eq!(request.message, Some(Message::default()));
    assert_eq!(read::<SecurityRequirement>(r#"{"schemes":null}"#), SecurityRequirement::default());
    assert_eq!(read::<Part>(r#"{"raw":null,"text":null}"#), Part::default());
    assert_eq!(read::<SignRequest>(r#"{"bodySha256":null}"#), SignRequest::default());
    assert_eq!(read::<TaskEvent>(r#"{"seq":null,"body":null}"#), TaskEvent::default());
    assert_eq!(read::<TaskStatus>(r#"{"timestamp":null}"#), TaskStatus::default());
}

#[test]
fn null_stands_for_no_element_of_a_list_or_map() {
    for text in [r#"{"parts":[null]}"#, r#"{"extensions":["a",null]}"#] {
        fault::<Message>(text);
    }
    assert_eq!(fault::<SecurityRequirement>(r#"{"schemes":{"k":null}}"#).path, "schemes.k");
}

#[test]
fn null_in_a_json_value_is_a_value() {
    let part: Part = read(r#"{"data":null}"#);
    assert_eq!(part.content, Some(Content::Data(Value::null())));
    assert_eq!(written(&part), r#"{"data":null}"#);
    assert_eq!(through::<InvokeResult>(r#"{"ok":true,"result":null}"#), r#"{"ok":true,"result":null}"#);
    assert_eq!(through::<InvokeResult>(r#"{"ok":true}"#), r#"{"ok":true}"#);
    assert_eq!(
        through::<Message>(r#"{"metadata":{"a":null}}"#),
        r#"{"messageId":"","role":"ROLE_UNSPECIFIED","parts":[],"metadata":{"a":null}}"#
    );
}

#[test]
fn unknown_fields_are_skipped_but_must_be_well_formed() {
    let text = r#"{"future":{"a":[1,{"messageId":2}],"b":null},"messageId":"m","x-y":"\u00e9"}"#;
    assert_eq!(read::<Message>(text).message_id, "m");
    for broken in
        [r#"{"future":[1,}"#, r#"{"future":01}"#, r#"{"future":nul}"#, r#"{"future":"\x"}"#, r#"{"future"}"#]
    {
        assert!(fault::<Message>(broken).syntax, "{broken}");
    }
}

#[test]
fn enums_are_read_by_name_or_number_and_written_by_name_if_they_have_one() {
    for (text, expected) in [
        (r#""TASK_STATE_WORKING""#, r#""TASK_STATE_WORKING""#),
        ("2", r#""TASK_STATE_WORKING""#),
        ("99", "99"),
        ("-1", "-1"),
        ("null", r#""TASK_STATE_UNSPECIFIED""#),
    ] {
        let status = format!(r#"{{"state":{text}}}"#);
        assert_eq!(through::<TaskStatus>(&status), format!(r#"{{"state":{expected}}}"#));
    }
    for text in [
        r#""TASK_STATE_DONE""#,
        r#""task_state_working""#,
        r#""working""#,
        r#""2""#,
        r#""""#,
        "1.5",
        "true",
        "{}",
        "4294967296",
    ] {
        let fault = fault::<Task>(&format!(r#"{{"status":{{"state":{text}}}}}"#));
        assert_eq!(fault.path, "status.state", "{text}");
    }
    let fault = fault::<ListTasksRequest>(r#"{"status":"NOPE"}"#);
    assert_eq!(
        fault.reason,
        r#"invalid value: string "NOPE", expected a name like TASK_STATE_UNSPECIFIED, or its number"#
    );
}

#[test]
fn bytes_are_read_in_both_alphabets_with_and_without_padding() {
    for text in ["+/8=", "-_8=", "+/8", "-_8"] {
        let part: Part = read(&format!(r#"{{"raw":"{text}"}}"#));
        assert_eq!(part.content, Some(Content::Raw(vec![0xfb, 0xff])), "{text}");
        assert_eq!(written(&part), r#"{"raw":"+/8="}"#);
    }
    assert_eq!(through::<Part>(r#"{"raw":""}"#), r#"{"raw":""}"#);
    for text in ["+_8=", "A", "AA=A", "A A=", "\u{e9}", "AAA=="] {
        assert_eq!(fault::<Part>(&format!(r#"{{"raw":"{text}"}}"#)).path, "raw", "{text}");
    }
}

#[test]
fn small_integers_are_numbers_and_may_come_as_strings() {
    for text in ["7", "7.0", "70e-1", r#""7""#, r#""7.0""#, r#""0.7e1""#] {
        let request: GetTaskRequest = read(&format!(r#"{{"historyLength":{text}}}"#));
        assert_eq!(request.history_length, Some(7), "{text}");
        assert_eq!(written(&request), r#"{"id":"","historyLength":7}"#);
    }
    assert_eq!(read::<GetTaskRequest>(r#"{"historyLength":-2147483648}"#).history_length, Some(i32::MIN));
    for text in [
        "1.5",
        "2147483648",
        "-2147483649",
        "1e10",
        r#""""#,
        r#"" 7""#,
        r#""7 ""#,
        r#""+7""#,
        r#""07""#,
        r#""0x7""#,
        r#""1.5""#,
        "true",
        "[]",
        r#""NaN""#,
    ] {
        assert_eq!(
            fault::<GetTaskRequest>(&format!(r#"{{"historyLength":{text}}}"#)).path,
            "historyLength",
            "{text}"
        );
    }
    fault::<weft_proto::weft::DrainRequest>(r#"{"withinMs":-1}"#);
}

#[test]
fn large_integers_are_strings_and_may_come_as_numbers() {
    for (text, seq) in
        [("7", 7), (r#""7""#, 7), (r#""18446744073709551615""#, u64::MAX), ("9007199254740992", 1 << 53)]
    {
        let event: TaskEvent = read(&format!(r#"{{"seq":{text}}}"#));
        assert_eq!(event.seq, seq);
        assert_eq!(written(&event), format!(r#"{{"seq":"{seq}"}}"#));
    }
    for text in [r#""18446744073709551616""#, "-1", "0.5", r#""-1""#] {
        assert_eq!(fault::<TaskEvent>(&format!(r#"{{"seq":{text}}}"#)).path, "seq", "{text}");
    }
    assert_eq!(through::<AppendRequest>(r#"{"lease":"0"}"#), "{}");
}

#[test]
fn booleans_and_strings_are_strict() {
    for text in ["1", "0", r#""true""#, "[]"] {
        fault::<ListTasksRequest>(&format!(r#"{{"includeArtifacts":{text}}}"#));
    }
    for text in ["1", "true", "{}", "[\"m\"]"] {
        fault::<Message>(&format!(r#"{{"messageId":{text}}}"#));
    }
}

#[test]
fn containers_are_not_mistaken_for_one_another() {
    for text in [
        r#"{"parts":{}}"#,
        r#"{"parts":"x"}"#,
        r#"{"metadata":[]}"#,
        r#"{"metadata":1}"#,
        "[]",
        "1",
        "null",
        "",
    ] {
        fault::<Message>(text);
    }
    fault::<SendMessageRequest>(r#"{"message":[]}"#);
}

#[test]
fn two_members_of_a_oneof_are_refused_by_name() {
    let cases = [
        (r#"{"text":"a","url":"b"}"#, "text and url exclude each other"),
        (r#"{"url":"b","text":""}"#, "url and text exclude each other"),
        (r#"{"data":null,"raw":""}"#, "data and raw exclude each other"),
    ];
    for (text, reason) in cases {
        assert_eq!(fault::<Part>(text).reason, reason, "{text}");
    }
    let fault = fault::<SendMessageResponse>(r#"{"task":{},"message":{}}"#);
    assert_eq!(fault.reason, "task and message exclude each other");
}

#[test]
fn a_null_member_leaves_a_oneof_to_the_others() {
    for text in [r#"{"text":null,"url":"u"}"#, r#"{"url":"u","text":null}"#] {
        assert_eq!(read::<Part>(text).content, Some(Content::Url("u".to_owned())), "{text}");
    }
    // Null is a value of `data`.
    fault::<Part>(r#"{"url":"u","data":null}"#);
}

#[test]
fn a_member_of_a_oneof_is_written_even_when_it_is_empty() {
    assert_eq!(through::<Part>(r#"{"text":""}"#), r#"{"text":""}"#);
    assert_eq!(through::<Part>(r#"{"data":{}}"#), r#"{"data":{}}"#);
    assert_eq!(written(&Part::default()), "{}");
}

#[test]
fn required_fields_are_always_written() {
    let page = r#"{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}"#;
    assert_eq!(written(&ListTasksResponse::default()), page);
    assert_eq!(written(&Message::default()), r#"{"messageId":"","role":"ROLE_UNSPECIFIED","parts":[]}"#);
    let card =
        written(&AgentCard { capabilities: Some(AgentCapabilities::default()), ..AgentCard::default() });
    let expected = r#"{"name":"","description":"","supportedInterfaces":[],"version":"","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}"#;
    assert_eq!(card, expected);
    let flow = weft_proto::a2a::ClientCredentialsOAuthFlow::default();
    assert_eq!(written(&flow), r#"{"tokenUrl":"","scopes":{}}"#);
}

#[test]
fn other_fields_are_left_out_when_they_hold_their_default() {
    assert_eq!(written(&SendMessageRequest::default()), "{}");
    assert_eq!(written(&ListTaskPushNotificationConfigsRequest::default()), r#"{"taskId":""}"#);
}

#[test]
fn an_optional_field_says_whether_it_was_given() {
    for (text, after) in [("{}", None), (r#"{"after":"0"}"#, Some(0)), (r#"{"after":null}"#, None)] {
        assert_eq!(read::<SubscribeRequest>(text).after, after, "{text}");
    }
    for text in [r#"{"after":"0"}"#, "{}"] {
        assert_eq!(through::<SubscribeRequest>(text), text);
    }
    assert_eq!(
        through::<ListTasksRequest>(r#"{"includeArtifacts":false,"pageSize":0}"#),
        r#"{"pageSize":0,"includeArtifacts":false}"#
    );
}

#[test]
fn text_that_is_not_json_is_a_syntax_fault() {
    for text in ["", " ", "{", "{}x", "{'a':1}", r#"{"a":1,}"#, "\u{feff}{}", "{\"messageId\":\"\n\"}"] {
        assert!(fault::<Message>(text).syntax, "{text}");
    }
    assert!(json::decode::<Message>(b"{\"messageId\":\"\xff\"}").is_err());
    assert!(!fault::<Message>("[]").syntax);
    // Half a surrogate pair is JSON by its grammar, but no string.
    let half = fault::<Message>(r#"{"messageId":"\ud800"}"#);
    assert_eq!((half.path.as_str(), half.syntax), ("messageId", false));
}
