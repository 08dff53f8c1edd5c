//! Prometheus text exposition, read strictly: one row a sample of the selected metrics.
//!
//! A row has `metric`, `value`, `timestamp_ms` (when the text gives one) and each label under its own name; a label
//! that would hide one of these three is called `label_…`.

use std::collections::BTreeMap;

use weft_proto::wkt::Value;

use crate::failure::Failure;
use crate::number;
use crate::rows::{Next, Sink};

/// What a scrape asks for.
pub(crate) const ACCEPT: &str = "text/plain;version=0.0.4";

/// One line that is a sample.
#[derive(Debug, PartialEq)]
struct Sample<'t> {
    metric: &'t str,
    labels: BTreeMap<String, String>,
    value: &'t str,
    timestamp: Option<&'t str>,
}

/// Offers every sample whose metric is among `metrics`, in the order of the text.
pub(crate) fn rows(text: &[u8], metrics: &[String], sink: &mut Sink<'_>) -> Result<(), Failure> {
    let text =
        std::str::from_utf8(text).map_err(|_| Failure::Unavailable("it is not UTF-8 text".to_owned()))?;
    for (nth, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || Failure::Unavailable(format!("line {} is not Prometheus text", nth + 1));
        let sample = sample(line).ok_or_else(wrong)?;
        if !metrics.iter().any(|metric| metric == sample.metric) {
            continue;
        }
        let row = row(&sample).ok_or_else(wrong)?;
        if sink.offer(|name| Ok(row.get(name).cloned()))? == Next::Enough {
            break;
        }
    }
    Ok(())
}

fn row(sample: &Sample<'_>) -> Option<BTreeMap<String, Value>> {
    let mut row = BTreeMap::new();
    row.insert("metric".to_owned(), number::text(sample.metric));
    let value = match sample.value {
        // No JSON number: answered as they are written.
        "NaN" | "+Inf" | "-Inf" | "Inf" => number::text(sample.value),
        digits => number::decimal(digits)?,
    };
    row.insert("value".to_owned(), value);
    if let Some(timestamp) = sample.timestamp {
        row.insert("timestamp_ms".to_owned(), number::whole(timestamp.parse().ok()?));
    }
    for (label, value) in &sample.labels {
        let taken = matches!(label.as_str(), "metric" | "value" | "timestamp_ms");
        let name = if taken { format!("label_{label}") } else { label.clone() };
        row.insert(name, number::text(value));
    }
    Some(row)
}

/// `name{label="value",…} value [timestamp]`
fn sample(line: &str) -> Option<Sample<'_>> {
    let end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (metric, mut rest) = line.split_at(end);
    if !is_name(metric, ":") {
        return None;
    }
    rest = rest.trim_start();
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        (labels, rest) = read_labels(inner)?;
    }
    let mut words = rest.split_ascii_whitespace();
    let (value, timestamp) = (words.next()?, words.next());
    // OpenMetrics may add an exemplar behind ` # `; anything else does not belong there.
    let after = timestamp.filter(|word| *word == "#").or_else(|| words.next());
    if after.is_some_and(|word| word != "#") {
        return None;
    }
    Some(Sample { metric, labels, value, timestamp: timestamp.filter(|word| *word != "#") })
}

/// Labels up to `}`, and what follows it.
fn read_labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once('=')?;
        let name = name.trim_end();
        let (value, after) = quoted(after.trim_start().strip_prefix('"')?)?;
        if !is_name(name, "") || labels.insert(name.to_owned(), value).is_some() {
            return None;
        }
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(more) => more,
            None if after.starts_with('}') => after,
            None => return None,
        };
    }
}

/// A label's value up to the closing quote, its escapes undone, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}

fn is_name(text: &str, also: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphabetic() || c == '_' || also.contains(c);
    text.starts_with(allowed) && text.chars().all(|c| allowed(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_read_with_its_labels_value_and_time() {
        let read =
            sample(r#"http_requests_total{method="post",code="2\"0\\0",path="a,b} c"} 1027 1395066363000"#)
                .unwrap();
        assert_eq!(
            (read.metric, read.value, read.timestamp),
            ("http_requests_total", "1027", Some("1395066363000"))
        );
        let labels: Vec<_> = read.labels.values().map(String::as_str).collect();
        assert_eq!(labels, ["2\"0\\0", "post", "a,b} c"].map(|s| s).to_vec());
        assert_eq!(sample("up 1").unwrap().labels, BTreeMap::new());
        assert_eq!(sample("a{} +Inf").unwrap().value, "+Inf");
        assert_eq!(sample(r#"a_bucket{le="1"} 3 # {trace_id="x"} 0.5"#).unwrap().timestamp, None);
    }

    #[test]
    fn a_line_that_is_no_sample_is_refused() {
        for bad in [
            "up",
            "1up 1",
            "up{a} 1",
            "up{a=b} 1",
            "up{a=\"b} 1",
            "up{a=\"b\"",
            "up 1 2 3",
            r#"up{a="1",a="2"} 1"#,
        ] {
            assert_eq!(sample(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_label_never_hides_the_value() {
        let read = sample(r#"up{value="9",job="x"} 1"#).unwrap();
        let row = row(&read).unwrap();
        assert_eq!(row["value"], number::decimal("1").unwrap());
        assert_eq!(row["label_value"], number::text("9"));
    }
}
