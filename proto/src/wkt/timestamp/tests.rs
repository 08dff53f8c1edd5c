use super::*;

fn printed(text: &str) -> Result<String, TimestampError> {
    text.parse::<Timestamp>().map(|time| time.to_string())
}

#[test]
fn any_offset_and_fraction_comes_out_in_utc_with_milliseconds() {
    let cases = [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("2026-02-28T23:30:00-01:00", "2026-03-01T00:30:00.000Z"),
        ("2024-02-29T12:00:00.5+05:30", "2024-02-29T06:30:00.500Z"),
        ("2024-12-31T23:59:59.999999999Z", "2024-12-31T23:59:59.999Z"),
        ("1969-12-31T23:59:59.9989Z", "1969-12-31T23:59:59.998Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00.000Z"),
    ];
    for (text, expected) in cases {
        assert_eq!(printed(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn text_of_another_form_is_refused() {
    let cases = [
        "",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01t00:00:00Z",
        "2026-01-01T00:00:00z",
        "2026-01-01T00:00Z",
        "2026-1-01T00:00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00+01",
        "2026-01-01T00:00:00+0100",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:0\u{661}Z",
        "+026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z[UTC]",
        "2026-01-01T00:00:00,5Z",
    ];
    for text in cases {
        assert_eq!(printed(text), Err(TimestampError::Form), "{text}");
    }
}

#[test]
fn dates_and_times_of_day_that_do_not_exist_are_refused() {
    let cases = [
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2016-12-31T23:59:60Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
    ];
    for text in cases {
        assert_eq!(printed(text), Err(TimestampError::Value), "{text}");
    }
}

#[test]
fn times_outside_the_years_1_to_9999_have_no_json_form() {
    for text in ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0000-12-31T23:59:59Z"] {
        assert_eq!(printed(text), Err(TimestampError::Range), "{text}");
    }
    for (seconds, nanos) in [(i64::MIN, 0), (i64::MAX, 0), (0, -1), (0, 1_000_000_000), (0, i32::MIN)] {
        let time = Timestamp { seconds, nanos };
        assert!(serde_json::to_string(&time).is_err(), "{time}");
    }
}

#[test]
fn milliseconds_count_forward_on_both_sides_of_1970() {
    for millis in [0, 1, -1, 999, -999, 1000, -1000, -1001, 1_767_225_600_123] {
        let time = Timestamp::from_millis(millis);
        assert_eq!(time.check(), Ok(()));
        assert_eq!(time.as_millis(), millis);
    }
    assert!(Timestamp::from_millis(-1) < Timestamp::from_millis(0));
}
