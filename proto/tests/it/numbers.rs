//! Numbers, depth and times: what JSON and protobuf can both keep, and nothing else.

use prost::Message as _;
use weft_proto::a2a::{
    Message, Part, SendMessageRequest, StreamResponse, Task, TaskStatus, part::Content, stream_response,
};
use weft_proto::json::{self, JsonFault, MAX_DOCUMENT_DEPTH, MAX_JSON_DEPTH};
use weft_proto::weft::{AppendRequest, ArtifactChunk, Progress, TaskEvent, progress};
use weft_proto::wkt::{self, Kind, Struct, Timestamp, Value};

fn fault(text: &str) -> JsonFault {
    json::decode::<SendMessageRequest>(text.as_bytes()).expect_err(text)
}

fn data(text: &str) -> Result<Part, JsonFault> {
    json::decode(format!(r#"{{"data":{text}}}"#).as_bytes())
}

#[test]
fn numbers_a_double_holds_come_back_as_they_were() {
    let cases = [
        ("1", "1"),
        ("-1", "-1"),
        ("1.0", "1"),
        ("0.1", "0.1"),
        ("1.5", "1.5"),
        ("1e20", "1e+20"),
        ("1e2", "100"),
        ("-0", "0"),
        ("9007199254740992", "9007199254740992"),
        ("1234567890123456800", "1234567890123456800"),
        ("9007199254740991", "9007199254740991"),
        ("2.5e-3", "0.0025"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("123456789012345680000", "1.2345678901234568e+20"),
    ];
    for (text, expected) in cases {
        let part = data(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(json::encode_string(&part).unwrap(), format!(r#"{{"data":{expected}}}"#));
    }
}

#[test]
fn numbers_a_double_would_change_are_refused_with_their_path() {
    let numbers = [
        "9007199254740993",
        "-9007199254740993",
        "1e400",
        "-1e999999999",
        "123456789012345678901",
        "0.10000000000000000001",
        "1e-400",
    ];
    for number in numbers {
        let text = format!(
            r#"{{"message":{{"parts":[{{"text":"1e400"}},{{"data":{{"a":[0,{{"n":{number}}}]}}}}]}}}}"#
        );
        let fault = fault(&text);
        assert_eq!(fault.path, "message.parts[1].data.a[1].n", "{number}");
        assert_eq!(fault.reason, "is a number that a double cannot hold exactly; send it as a string");
        assert!(!fault.syntax);
    }
    // Wherever it stands, also where nobody would read it.
    assert_eq!(fault(r#"{"future":9007199254740993}"#).path, "future");
    assert_eq!(
        json::decode::<TaskEvent>(br#"{"seq":9007199254740993}"#).expect_err("a large number").path,
        "seq"
    );
}

#[test]
fn digits_in_strings_are_nobodys_business() {
    let part = data(r#""9007199254740993 1e400""#).expect("a string");
    assert_eq!(part.content, Some(Content::Data(Value::from("9007199254740993 1e400"))));
}

#[test]
fn a_fault_never_repeats_much_of_the_input() {
    let long = "k".repeat(100_000);
    let fault = fault(&format!(r#"{{"message":{{"metadata":{{"{long}":{{"{long}":1e400}}}}}}}}"#));
    assert!(fault.path.len() <= 240 && fault.path.starts_with("message.metadata.kkk"), "{}", fault.path);
    let fault =
        json::decode::<Message>(format!(r#"{{"role":"{long}"}}"#).as_bytes()).expect_err("no such role");
    assert!(fault.reason.len() <= 240);
}

/// `depth` objects and arrays around a number, objects outermost.
fn nested(depth: usize) -> String {
    format!("{}1{}", r#"{"k":"#.repeat(depth), "}".repeat(depth))
}

#[test]
fn values_may_nest_to_the_limit_and_no_further() {
    let deepest = data(&nested(MAX_JSON_DEPTH)).expect("the limit itself is allowed");
    let Some(Content::Data(value)) = &deepest.content else { panic!("data was read as data") };
    assert_eq!(wkt::depth(value), MAX_JSON_DEPTH);
    let fault = data(&nested(MAX_JSON_DEPTH + 1)).expect_err("one too deep");
    assert_eq!(fault.reason, format!("is nested more than {MAX_JSON_DEPTH} deep"));
    assert!(fault.path.starts_with("data.k.k.k"), "{}", fault.path);
    // An object that is itself the value counts too.
    assert!(
        json::decode::<Message>(format!(r#"{{"metadata":{}}}"#, nested(MAX_JSON_DEPTH)).as_bytes()).is_ok()
    );
    assert!(
        json::decode::<Message>(format!(r#"{{"metadata":{}}}"#, nested(MAX_JSON_DEPTH + 1)).as_bytes())
            .is_err()
    );
    let arrays = format!("{}{}", "[".repeat(MAX_JSON_DEPTH), "]".repeat(MAX_JSON_DEPTH));
    assert!(data(&arrays).is_ok());
    assert!(data(&format!("[{arrays}]")).is_err());
}

#[test]
fn what_was_read_can_be_decoded_again_inside_every_message_that_carries_it() {
    let message: Message = json::decode(
        format!(r#"{{"parts":[{{"data":{0}}}],"metadata":{0}}}"#, nested(MAX_JSON_DEPTH)).as_bytes(),
    )
    .expect("the limit itself is allowed");
    let status = TaskStatus { message: Some(message.clone()), ..TaskStatus::default() };
    let task = Task { status: Some(status.clone()), history: vec![message], ..Task::default() };
    let body = StreamResponse { payload: Some(stream_response::Payload::Task(task)) };
    let event = TaskEvent { seq: 1, body: Some(body) };
    let again = TaskEvent::decode(event.encode_to_vec().as_slice()).expect("decodes again");
    assert_eq!(again, event);

    let artifact =
        weft_proto::a2a::Artifact { parts: status.message.unwrap_or_default().parts, ..Default::default() };
    let chunk = ArtifactChunk { artifact: Some(artifact), ..ArtifactChunk::default() };
    let step = Progress { step: Some(progress::Step::Artifact(chunk)), metadata: None };
    let append = AppendRequest { progress: vec![step], ..AppendRequest::default() };
    assert_eq!(AppendRequest::decode(append.encode_to_vec().as_slice()).expect("decodes again"), append);
}

#[test]
fn whole_documents_may_not_nest_absurdly_not_even_in_unknown_fields() {
    let unknown = |depth: usize| format!(r#"{{"future":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(json::decode::<Message>(unknown(MAX_DOCUMENT_DEPTH - 1).as_bytes()).is_ok());
    let fault = fault(&unknown(MAX_DOCUMENT_DEPTH));
    assert_eq!(fault.reason, format!("is nested more than {MAX_DOCUMENT_DEPTH} deep"));
    assert!(fault.path.starts_with("future[0][0]"), "{}", fault.path);
    for bomb in ["[".repeat(5_000_000), r#"{"a":"#.repeat(1_000_000), unknown(3_000_000)] {
        assert!(json::decode::<Message>(bomb.as_bytes()).is_err());
    }
}

fn with_data(value: Value) -> Message {
    Message {
        parts: vec![Part::default(), Part { content: Some(Content::Data(value)), ..Part::default() }],
        ..Message::default()
    }
}

#[test]
fn what_json_cannot_say_is_found_in_messages_that_came_as_protobuf() {
    let list = Value::from(vec![Value::from(1), Value::from(Kind::Number(f64::NAN))]);
    let object: Struct = [("n", list)].into_iter().collect();
    let message = with_data(object.into());
    let fault = json::check(&message).expect_err("NaN is not JSON");
    assert_eq!(fault.to_string(), "parts[1].data.n[1]: is not a finite number");
    let fault = json::encode(&message).expect_err("NaN is not JSON");
    assert_eq!(fault.path, "parts[1].data.n[1]");

    let mut deep = Value::from(1);
    for _ in 0..MAX_JSON_DEPTH {
        deep = vec![deep].into();
    }
    assert_eq!(json::check(&with_data(deep.clone())), Ok(()));
    let fault = json::check(&with_data(vec![deep].into())).expect_err("one too deep");
    assert!(fault.reason.contains("nested"), "{fault}");

    let time = Timestamp { seconds: i64::MAX, nanos: 0 };
    let task = Task {
        status: Some(TaskStatus { timestamp: Some(time), ..TaskStatus::default() }),
        ..Task::default()
    };
    assert_eq!(json::check(&task).expect_err("no such year").path, "status.timestamp");
    assert_eq!(json::encode(&task).expect_err("no such year").path, "status.timestamp");
}

#[test]
fn times_are_read_with_any_offset_and_refused_with_their_path() {
    let status: TaskStatus =
        json::decode(br#"{"timestamp":"2026-01-31T23:30:00.123456-01:00"}"#).expect("RFC 3339");
    let text = json::encode_string(&status).unwrap();
    assert_eq!(text, r#"{"state":"TASK_STATE_UNSPECIFIED","timestamp":"2026-02-01T00:30:00.123Z"}"#);
    for text in ["1767225600", r#""yesterday""#, r#""2026-02-30T00:00:00Z""#, r#""10000-01-01T00:00:00Z""#] {
        let fault = json::decode::<Task>(format!(r#"{{"status":{{"timestamp":{text}}}}}"#).as_bytes())
            .expect_err(text);
        assert_eq!(fault.path, "status.timestamp");
    }
}

/// Messages between a message and the deepest JSON value in it, map entries among them.
fn layers(message: &prost_reflect::MessageDescriptor) -> Option<usize> {
    let below = message.fields().filter_map(|field| match field.kind() {
        prost_reflect::Kind::Message(inner) => match inner.full_name() {
            // An object is the first of its own levels, a value stands around them.
            "google.protobuf.Struct" => Some(0),
            "google.protobuf.Value" => Some(1),
            _ => layers(&inner).map(|layers| layers + 1),
        },
        _ => None,
    });
    below.max()
}

#[test]
fn the_deepest_value_fits_into_the_deepest_message_with_room_to_wrap_it() {
    const PROTOBUF_DEPTH: usize = 100;
    const OBJECT_COST: usize = 3;
    const ROOM: usize = 8;
    let pool = prost_reflect::DescriptorPool::decode(weft_proto::FILE_DESCRIPTOR_SET)
        .expect("our own descriptors decode");
    let ours = pool.all_messages().filter(|m| ["lf.a2a.v1", "weft.v1"].contains(&m.package_name()));
    let deepest = ours.filter_map(|m| layers(&m)).max().expect("some message holds a value");
    assert!(deepest >= 6, "TaskEvent, StreamResponse, Task, TaskStatus, Message, Part, Value: {deepest}");
    assert!(deepest + OBJECT_COST * MAX_JSON_DEPTH + ROOM <= PROTOBUF_DEPTH, "{deepest}");
}

#[test]
fn protobuf_gives_up_where_the_limit_expects_it() {
    // Without the limit, 33 levels of objects in one value still decode on their own, and 34 do not.
    let nest = |depth| {
        (0..depth).fold(Value::from(1), |inner, _| [("k", inner)].into_iter().collect::<Struct>().into())
    };
    let decodes = |depth| Value::decode(nest(depth).encode_to_vec().as_slice()).is_ok();
    assert!(decodes(33) && !decodes(34));
}
