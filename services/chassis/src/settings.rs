//! Settings: declared once, next to the service that obeys them, settable by file, environment and flag.
//!
//! [`settings!`](crate::settings!) turns one declaration into the struct, its defaults, its bounds and the text that
//! `--help` shows, so that none of them can differ. Layers, later wins: default, TOML file, `WEFT_…` environment, flag.
//!
//! ```
//! weft_chassis::settings! {
//!     /// How the store behaves.
//!     pub struct Settings in "tasks" {
//!         /// how long a lease lives without a heartbeat, in milliseconds
//!         pub lease_ms: u64 = 15_000, 1_000..=600_000;
//!         /// store backend: sled
//!         pub backend: String = "sled".into();
//!     }
//! }
//! assert_eq!(Settings::default().lease_ms, 15_000);
//! assert_eq!(Settings::DOCS[0].key, "lease_ms");
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// What is known of one key.
#[derive(Debug, Clone, Copy)]
pub struct Doc {
    /// Section of the TOML file.
    pub section: &'static str,
    /// Key within the section.
    pub key: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
    /// Least and greatest value of a number.
    pub range: Option<(i64, i64)>,
}

impl Doc {
    /// `section.key`, as error texts and `config show` name it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// `WEFT_SECTION_KEY`.
    #[must_use]
    pub fn env(&self) -> String {
        format!("WEFT_{}_{}", self.section, self.key).to_uppercase().replace('-', "_")
    }

    /// `section-key`, without the leading dashes.
    #[must_use]
    pub fn flag(&self) -> String {
        format!("{}-{}", self.section, self.key).replace('_', "-")
    }
}

/// Declares a settings struct; see the module. Bounds apply to integer fields.
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])*
        $vis:vis struct $name:ident in $section:literal {
            $(
                #[doc = $help:literal]
                pub $field:ident: $type:ty = $default:expr $(, $min:literal ..= $max:literal)?;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $name {
            $(
                #[doc = $help]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            /// Every key, in the order of declaration.
            pub const DOCS: &'static [$crate::settings::Doc] = &[
                $($crate::settings::Doc {
                    section: $section,
                    key: stringify!($field),
                    help: $help.trim_ascii(),
                    range: $crate::settings!(@range $($min, $max)?),
                },)*
            ];
        }
    };
    (@range) => { None };
    (@range $min:literal, $max:literal) => { Some(($min, $max)) };
}

/// Why settings cannot be used: which key, what it is, what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSetting(
    /// Names the source, key, value and remedy.
    pub String,
);

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadSetting {}

/// All layers of all sections, merged.
#[derive(Debug, Clone)]
pub struct Layers {
    docs: Vec<Doc>,
    merged: Table,
    origins: BTreeMap<String, String>,
}

impl Layers {
    /// Starts with every section's defaults: pairs of docs and the serialized default struct.
    #[must_use]
    pub fn new(sections: Vec<(&'static [Doc], Table)>) -> Layers {
        let mut layers = Layers { docs: Vec::new(), merged: Table::new(), origins: BTreeMap::new() };
        for (docs, defaults) in sections {
            if let Some(first) = docs.first() {
                layers.merged.insert(first.section.to_owned(), Value::Table(defaults));
            }
            layers.docs.extend_from_slice(docs);
        }
        layers
    }

    /// Every known key.
    #[must_use]
    pub fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// Lays a TOML file over it. `name` is used in error texts.
    ///
    /// # Errors
    /// When it is not TOML, or a key is unknown, of the wrong type or out of bounds.
    pub fn file(&mut self, name: &str, text: &str) -> Result<(), BadSetting> {
        let file: Table = text.parse().map_err(|e| BadSetting(format!("{name}: not valid TOML: {e}")))?;
        for (section, entries) in file {
            let Value::Table(entries) = entries else {
                return Err(BadSetting(format!("{name}: `{section}` must be a section: [{section}]")));
            };
            for (key, value) in entries {
                let doc = *self.find(name, &section, &key)?;
                self.set(doc, value, name)?;
            }
        }
        Ok(())
    }

    /// Lays one text value over it, as it comes from the environment or a flag. Lists are comma-separated.
    ///
    /// # Errors
    /// When the text does not fit the key's type or bounds.
    pub fn text(&mut self, doc: Doc, text: &str, origin: &str) -> Result<(), BadSetting> {
        let bad =
            |wanted: &str| BadSetting(format!("{origin}: `{}` is \"{text}\": must be {wanted}", doc.path()));
        let value = match self.get(doc) {
            Some(Value::Integer(_)) => {
                Value::Integer(text.replace('_', "").parse().map_err(|_| bad("a whole number"))?)
            }
            Some(Value::Float(_)) => Value::Float(text.parse().map_err(|_| bad("a number"))?),
            Some(Value::Boolean(_)) => Value::Boolean(text.parse().map_err(|_| bad("true or false"))?),
            Some(Value::Array(_)) => Value::Array(
                text.split(',')
                    .map(str::trim)
                    .filter(|s| !s.is_empty())
                    .map(|s| Value::String(s.to_owned()))
                    .collect(),
            ),
            _ => Value::String(text.to_owned()),
        };
        self.set(doc, value, origin)
    }

    /// The settings of one section.
    ///
    /// # Errors
    /// When a value does not fit; cannot happen after the layers were checked, except for list elements.
    pub fn section<T: DeserializeOwned>(&self, section: &str) -> Result<T, BadSetting> {
        let table = self.merged.get(section).cloned().unwrap_or_else(|| Value::Table(Table::new()));
        table.try_into().map_err(|e| BadSetting(format!("[{section}]: {e}")))
    }

    /// Every key with its present value and where it came from (`default`, a file, a variable, a flag).
    pub fn shown(&self) -> impl Iterator<Item = (Doc, String, &str)> {
        self.docs.iter().map(|doc| {
            let value = self.get(*doc).map_or_else(String::new, ToString::to_string);
            (*doc, value, self.origins.get(&doc.path()).map_or("default", String::as_str))
        })
    }

    fn get(&self, doc: Doc) -> Option<&Value> {
        self.merged.get(doc.section)?.get(doc.key)
    }

    fn find(&self, name: &str, section: &str, key: &str) -> Result<&Doc, BadSetting> {
        self.docs.iter().find(|d| d.section == section && d.key == key).ok_or_else(|| {
            let mut known: Vec<_> =
                self.docs.iter().filter(|d| d.section == section).map(|d| d.key).collect();
            let remedy = if known.is_empty() {
                let mut sections: Vec<_> = self.docs.iter().map(|d| d.section).collect();
                sections.dedup();
                format!("sections are {}", sections.join(", "))
            } else {
                known.sort_unstable();
                format!("keys of [{section}] are {}", known.join(", "))
            };
            BadSetting(format!("{name}: `{section}.{key}` is not a setting; {remedy}"))
        })
    }

    fn set(&mut self, doc: Doc, value: Value, origin: &str) -> Result<(), BadSetting> {
        let now = self.get(doc).cloned();
        let path = doc.path();
        if let Some(now) = &now
            && now.type_str() != value.type_str()
        {
            let wanted = now.type_str();
            return Err(BadSetting(format!(
                "{origin}: `{path}` is {value}: must be of type {wanted}, like {now}"
            )));
        }
        if let (Some((min, max)), Value::Integer(n)) = (doc.range, &value)
            && !(min..=max).contains(n)
        {
            return Err(BadSetting(format!("{origin}: `{path}` is {n}: must be from {min} to {max}")));
        }
        if let Some(Value::Table(section)) = self.merged.get_mut(doc.section) {
            section.insert(doc.key.to_owned(), value);
        }
        self.origins.insert(path, origin.to_owned());
        Ok(())
    }
}

/// A struct's defaults as a table.
///
/// # Panics
/// Never for structs made by [`settings!`](crate::settings!).
#[must_use]
pub fn defaults<T: Default + serde::Serialize>() -> Table {
    Table::try_from(T::default()).expect("settings are scalars and lists")
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro declares as the services do")]
mod tests {
    use super::*;

    crate::settings! {
        /// A sample.
        pub struct Sample in "sample" {
            /// how long, in milliseconds
            pub lease_ms: u64 = 15_000, 1_000..=600_000;
            /// whom to trust
            pub origins: Vec<String> = Vec::new();
            /// what to keep
            pub name: String = "weft".into();
        }
    }

    fn layers() -> Layers {
        Layers::new(vec![(Sample::DOCS, defaults::<Sample>())])
    }

    #[test]
    fn later_layers_win_and_say_where_a_value_came_from() {
        let mut layers = layers();
        layers.file("weft.toml", "[sample]\nlease_ms = 2000\nname = \"a\"").unwrap();
        layers.text(Sample::DOCS[0], "3_000", "WEFT_SAMPLE_LEASE_MS").unwrap();
        layers.text(Sample::DOCS[1], "a, b", "--sample-origins").unwrap();
        let sample: Sample = layers.section("sample").unwrap();
        assert_eq!(
            sample,
            Sample { lease_ms: 3_000, origins: vec!["a".into(), "b".into()], name: "a".into() }
        );
        let origins: Vec<_> = layers.shown().map(|(_, _, origin)| origin.to_owned()).collect();
        assert_eq!(origins, ["WEFT_SAMPLE_LEASE_MS", "--sample-origins", "weft.toml"]);
    }

    #[test]
    fn a_bad_setting_names_key_value_and_remedy() {
        let check = |text: &str, parts: &[&str]| {
            let error = layers().file("weft.toml", text).unwrap_err().0;
            for part in parts {
                assert!(error.contains(part), "{error} lacks {part}");
            }
        };
        check("[sample]\nlease_ms = 0", &["sample.lease_ms", "0", "1000 to 600000"]);
        check("[sample]\nlease_ms = \"x\"", &["sample.lease_ms", "x", "integer"]);
        check("[sample]\nleese_ms = 1", &["sample.leese_ms", "lease_ms, name, origins"]);
        check("[simple]\na = 1", &["simple.a", "sections are sample"]);
        check("sample = 3", &["[sample]"]);
        check("[sample", &["not valid TOML"]);
    }

    #[test]
    fn a_key_has_one_name_in_each_place() {
        let doc = Sample::DOCS[0];
        assert_eq!(
            (doc.path(), doc.env(), doc.flag()),
            ("sample.lease_ms".into(), "WEFT_SAMPLE_LEASE_MS".into(), "sample-lease-ms".into())
        );
    }
}
