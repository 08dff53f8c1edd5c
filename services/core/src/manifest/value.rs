//! TOML values as JSON values; a number that a double cannot hold exactly is refused.

use weft_proto::wkt;

/// Greatest whole number up to which a double holds every one.
const WHOLE_MAX: u64 = 1 << 53;

/// The JSON value of a TOML value; dates and times become text.
///
/// # Errors
/// Says what is wrong with the number that does not fit.
pub(super) fn json(value: &toml::Value) -> Result<wkt::Value, String> {
    let kind = match value {
        toml::Value::String(text) => wkt::Kind::String(text.clone()),
        toml::Value::Boolean(flag) => wkt::Kind::Bool(*flag),
        toml::Value::Datetime(time) => wkt::Kind::String(time.to_string()),
        toml::Value::Integer(n) if n.unsigned_abs() > WHOLE_MAX => {
            return Err(format!("{n} is more than a JSON number holds exactly: write it as text"));
        }
        // Exact: the guard above leaves what a double holds.
        #[allow(clippy::cast_precision_loss)]
        toml::Value::Integer(n) => wkt::Kind::Number(*n as f64),
        toml::Value::Float(n) if !n.is_finite() => return Err(format!("{n} is not a JSON number")),
        toml::Value::Float(n) => wkt::Kind::Number(*n),
        toml::Value::Array(items) => {
            let values = items.iter().map(json).collect::<Result<_, _>>()?;
            wkt::Kind::List(wkt::ListValue { values })
        }
        toml::Value::Table(table) => {
            let fields = table.iter().map(|(name, value)| Ok((name.clone(), json(value)?)));
            wkt::Kind::Struct(wkt::Struct { fields: fields.collect::<Result<_, String>>()? })
        }
    };
    Ok(wkt::Value { kind: Some(kind) })
}
