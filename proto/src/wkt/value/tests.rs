use serde_json::json;

use super::*;

fn printed(value: &Value) -> String {
    serde_json::to_string(value).expect("a finite value prints")
}

#[test]
fn whole_numbers_print_as_integers_and_others_as_they_are() {
    let cases = [
        (1.0, "1"),
        (-3.0, "-3"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (0.1, "0.1"),
        (1e20, "1e+20"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (1e-7, "1e-7"),
    ];
    for (number, expected) in cases {
        assert_eq!(printed(&Kind::Number(number).into()), expected);
    }
}

#[test]
fn numbers_that_are_not_finite_do_not_print() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(serde_json::to_string(&Value::from(Kind::Number(number))).is_err());
        assert!(serde_json::Value::try_from(&Value::from(Kind::Number(number))).is_err());
    }
}

#[test]
fn every_kind_comes_back_from_json_as_it_was() {
    let json =
        json!({"n": null, "b": [true, false], "s": "\u{1F980}\"", "i": 7, "f": 0.25, "o": {"": []}, "e": {}});
    let value = Value::try_from(json.clone()).expect("every number is exact");
    assert_eq!(serde_json::Value::try_from(&value).expect("every number is finite"), json);
    let again: Value = serde_json::from_str(&printed(&value)).expect("own text reads");
    assert_eq!(again, value);
    assert_eq!(value.as_struct().and_then(|object| object.get("i")).and_then(Value::as_f64), Some(7.0));
}

#[test]
fn a_value_without_a_kind_is_null() {
    assert_eq!(printed(&Value::default()), "null");
    assert!(Value::default().is_null());
    assert_eq!(serde_json::from_str::<Value>("null").expect("null is a value"), Value::null());
}

#[test]
fn members_are_written_in_the_order_of_their_names_whatever_order_they_came_in() {
    let (a, b) = (r#"{"b":1,"a":2,"c":3}"#, r#"{"c":3,"a":2,"b":1}"#);
    let (a, b): (Struct, Struct) = (serde_json::from_str(a).unwrap(), serde_json::from_str(b).unwrap());
    assert_eq!(prost::Message::encode_to_vec(&a), prost::Message::encode_to_vec(&b));
    assert_eq!(serde_json::to_string(&a).unwrap(), r#"{"a":2,"b":1,"c":3}"#);
}

#[test]
fn a_member_given_twice_is_refused() {
    let fault =
        serde_json::from_str::<Struct>(r#"{"x":{"a":1,"a":2}}"#).expect_err("which one counts is unclear");
    assert!(fault.to_string().contains("\"a\" is given twice"), "{fault}");
}

#[test]
fn depth_counts_objects_and_arrays() {
    for (json, expected) in [("1", 0), ("{}", 1), ("[]", 1), (r#"{"a":1}"#, 1), (r#"{"a":[{}],"b":[]}"#, 3)] {
        assert_eq!(depth(&serde_json::from_str(json).unwrap()), expected, "{json}");
    }
}

#[test]
fn whole_numbers_a_double_changes_are_refused_also_as_parsed_json() {
    assert!(Value::try_from(json!(9_007_199_254_740_993_u64)).is_err());
    assert!(Value::try_from(json!([-9_007_199_254_740_993_i64])).is_err());
    assert!(Value::try_from(json!(9_007_199_254_740_992_u64)).is_ok());
}
