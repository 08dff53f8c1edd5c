//! `weft config check|show`.

use weft_chassis::settings::Layers;

use super::Failure;
use super::args::ConfigCommand;
use super::out::Out;
use crate::settings::Settings;

/// Checks or shows the merged settings.
pub(super) fn config(layers: &Layers, command: ConfigCommand) -> Result<(), Failure> {
    Settings::read(layers).map_err(|e| Failure::Usage(e.to_string()))?;
    match command {
        ConfigCommand::Check => Out::new(false).line("the settings fit"),
        ConfigCommand::Show { json } => show(layers, json),
    }
    Ok(())
}

fn show(layers: &Layers, json: bool) {
    let out = Out::new(json);
    if json {
        let rows: Vec<_> = layers
            .shown()
            .map(|(doc, value, origin)| serde_json::json!({ "key": doc.path(), "value": value, "from": origin }))
            .collect();
        return out.line(&serde_json::Value::Array(rows).to_string());
    }
    let mut section = "";
    for (doc, value, origin) in layers.shown() {
        if section != doc.section {
            section = doc.section;
            out.line(&format!("[{section}]"));
        }
        out.line(&format!("{} = {value}  # {origin}: {}", doc.key, doc.help));
    }
}
