use super::*;

fn caller(headers: &HeaderMap) -> Result<Caller, Fault> {
    Caller::as_who(Who::local(), &Env::simulated(1), headers, Operation::GetTask)
}

const BOTH: [Version; 2] = [Version::V1, Version::V03];

fn headers(headers: &[(&'static str, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).fold(
        HeaderMap::new(),
        |mut map, (name, value)| {
            map.append(name, value);
            map
        },
    )
}

fn said(values: &[&str], query: Option<&str>) -> Result<Option<Version>, Fault> {
    let values: Vec<_> = values.iter().map(|value| ("a2a-version", *value)).collect();
    Version::said(&headers(&values), query, &BOTH)
}

#[test]
fn only_major_and_minor_of_the_version_count() {
    for fine in ["1.0", "1.0.0", "1.0.37", " 1.0 "] {
        assert_eq!(said(&[fine], None), Ok(Some(Version::V1)), "{fine:?}");
    }
    assert_eq!(said(&["0.3"], None), Ok(Some(Version::V03)));
    assert_eq!(said(&["0.3.0"], None), Ok(Some(Version::V03)));
    assert_eq!(said(&[""], None), Ok(None));
    for bad in ["99.0", "2.0", "0.30", "1", "1.", "1.1", "1.00", "abc", "1.0.x", "1.0.0.0", "1.0,0.3", "0.2"]
    {
        let fault = said(&[bad], None).unwrap_err();
        assert_eq!(fault.kind, Kind::VersionNotSupported, "{bad:?}");
        assert_eq!(fault.metadata["supportedVersions"], "1.0, 0.3");
    }
    assert!(said(&["1.0", "99.0"], None).is_err());
    assert!(Version::said(&headers(&[("a2a-version", "0.3")]), None, &[Version::V1]).is_err());
}

#[test]
fn the_query_says_the_version_when_the_header_does_not() {
    assert_eq!(said(&[], Some("A2A-Version=1.0")), Ok(Some(Version::V1)));
    assert_eq!(said(&[], Some("x=1&A2A%2DVersion=0.3")), Ok(Some(Version::V03)));
    assert!(said(&[], Some("x=1&A2A-Version=99.0")).is_err());
    assert!(said(&[""], Some("A2A-Version=99.0")).is_err());
    assert!(said(&["1.0"], Some("A2A-Version=99.0")).is_ok());
}

#[test]
fn a_bad_header_is_named() {
    for (name, value, field) in [
        ("idempotency-key", "a b", "Idempotency-Key"),
        ("idempotency-key", "", "Idempotency-Key"),
        ("last-event-id", "x", "Last-Event-ID"),
        ("last-event-id", "-1", "Last-Event-ID"),
    ] {
        let fault = caller(&headers(&[(name, value)])).unwrap_err();
        assert_eq!(fault.violations[0].field, field);
    }
    assert!(caller(&headers(&[("idempotency-key", "a"), ("idempotency-key", "b")])).is_err());
    assert_eq!(caller(&headers(&[("last-event-id", "7")])).unwrap().last_event, Some(7));
    let many = "urn:x,".repeat(300);
    assert!(caller(&headers(&[("a2a-extensions", &many)])).is_err());
}

#[test]
fn required_extensions_are_asked_for_and_used_ones_are_named() {
    let extension =
        |uri: &str, required| AgentExtension { uri: uri.into(), required, ..AgentExtension::default() };
    let declared = [extension("urn:must", true), extension("urn:may", false)];
    let silent = caller(&HeaderMap::new()).unwrap();
    let fault = silent.activates(&declared).unwrap_err();
    assert_eq!(
        (fault.kind, fault.metadata["required"].as_str()),
        (Kind::ExtensionSupportRequired, "urn:must")
    );
    let both =
        caller(&headers(&[("a2a-extensions", "urn:other, urn:must"), ("x-a2a-extensions", "urn:may")]));
    let both = both.unwrap();
    assert_eq!(both.activates(&declared), Ok(()));
    assert_eq!(both.activated(&declared).extensions, "urn:must, urn:may");
}
