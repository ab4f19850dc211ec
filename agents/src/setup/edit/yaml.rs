//! YAML, edited in place. The `yaml-edit` crate keeps comments, order and spaces; the parsers that
//! most use lose them.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;
use yaml_edit::validator::{Severity, Validator};
use yaml_edit::{Mapping, ScalarType, ScalarValue, YamlFile, YamlNode, YamlValue};

use super::{Clash, Document, Step, clash, without_mark};

/// A YAML file of one document.
pub(crate) struct Yaml {
    file: YamlFile,
    mark: &'static str,
    /// Whether all lines end as on Windows. The library ends new lines with a line feed only.
    crlf: bool,
}

impl Yaml {
    /// Parses a file's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (mark, text) = without_mark(text);
        let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
        let file = YamlFile::from_str(text).map_err(|error| error.to_string())?;
        if file.documents().count() > 1 {
            return Err("it has more than one document".to_owned());
        }
        let whole = file.document();
        // The parser goes on after mistakes that other parsers refuse, such as tabs as indentation.
        let mistakes = whole.iter().flat_map(|whole| Validator::new().validate(whole));
        if let Some(mistake) = mistakes.into_iter().find(|it| it.severity == Severity::Error) {
            return Err(mistake.to_string());
        }
        if whole.is_some_and(|whole| whole.as_sequence().is_some() || whole.as_scalar().is_some()) {
            return Err("it is not a mapping".to_owned());
        }
        Ok(Self { file, mark, crlf })
    }

    fn root(&self) -> Option<Mapping> {
        self.file.document()?.as_mapping()
    }
}

impl Document for Yaml {
    fn get(&self, at: &[Step]) -> Option<Value> {
        let mut steps = at.iter();
        let Some(Step::Key(first)) = steps.next() else { return Some(of_mapping(&self.root()?)) };
        let found = steps.try_fold(self.root()?.get(first.as_str())?, |node, step| match step {
            Step::Key(key) => node.get(key.as_str()),
            Step::Index(index) => node.get_item(*index),
        });
        value(&found?)
    }

    fn set(&mut self, at: &[Step], value: &Value) -> Result<(), Clash> {
        let mut keys = Vec::new();
        for (depth, step) in at.iter().enumerate() {
            let Step::Key(key) = step else {
                return Err(clash(at.get(..=depth).unwrap_or(at), "a list anchord edits"));
            };
            keys.push(key.as_str());
        }
        let Some((last, way)) = keys.split_last() else { return Err(clash(at, "a place")) };
        let Some(mut mapping) = self.root() else {
            // A file without a document has at most comments, which stay.
            let document = self.file.ensure_document();
            let (first, rest) = keys.split_first().unwrap_or((last, &[]));
            document.set(*first, nested(rest, value));
            return Ok(());
        };
        for (depth, key) in way.iter().enumerate() {
            let here = at.get(..=depth).unwrap_or(at);
            match mapping.get(*key) {
                Some(node) if node.is_mapping() => {
                    mapping = mapping.get_mapping(*key).ok_or_else(|| clash(here, "a mapping"))?;
                }
                Some(node) if !is_null(&node) => return Err(clash(here, "a mapping")),
                _ => {
                    let rest = keys.get(depth + 1..).unwrap_or_default();
                    mapping.set(*key, nested(rest, value));
                    return Ok(());
                }
            }
        }
        mapping.set(*last, to_yaml(value));
        Ok(())
    }

    fn remove(&mut self, at: &[Step]) {
        let (Some(mut mapping), Some((Step::Key(last), way))) = (self.root(), at.split_last())
        else {
            return;
        };
        for step in way {
            let Step::Key(key) = step else { return };
            match mapping.get_mapping(key.as_str()) {
                Some(inner) => mapping = inner,
                None => return,
            }
        }
        mapping.remove(last.as_str());
    }

    fn text(&self) -> String {
        let text = self.file.to_string();
        let text = if self.crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
        format!("{}{text}", self.mark)
    }
}

/// Returns a value with mappings around it.
fn nested(keys: &[&str], value: &Value) -> YamlValue {
    keys.iter().rev().fold(to_yaml(value), |inner, key| {
        YamlValue::Mapping(BTreeMap::from([((*key).to_owned(), inner)]))
    })
}

fn to_yaml(value: &Value) -> YamlValue {
    match value {
        Value::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| (key.clone(), to_yaml(value)));
            YamlValue::Mapping(pairs.collect())
        }
        Value::Array(items) => YamlValue::Sequence(items.iter().map(to_yaml).collect()),
        Value::String(text) => YamlValue::scalar(ScalarValue::string(text)),
        Value::Bool(_) | Value::Number(_) | Value::Null => {
            YamlValue::scalar(ScalarValue::parse(value.to_string()))
        }
    }
}

fn value(node: &YamlNode) -> Option<Value> {
    match node {
        YamlNode::Mapping(mapping) => Some(of_mapping(mapping)),
        YamlNode::Sequence(items) => {
            Some(Value::Array(items.values().filter_map(|item| value(&item)).collect()))
        }
        YamlNode::Scalar(scalar) => {
            let found = ScalarValue::from_scalar(scalar);
            Some(match found.scalar_type() {
                ScalarType::Boolean => found.to_bool()?.into(),
                ScalarType::Integer => found.to_i64()?.into(),
                ScalarType::Null => Value::Null,
                _ => scalar.as_string().into(),
            })
        }
        // No entry of ours has one.
        YamlNode::Alias(_) | YamlNode::TaggedNode(_) => None,
    }
}

fn of_mapping(mapping: &Mapping) -> Value {
    let pairs = mapping.iter().filter_map(|(key, found)| {
        let key = key.as_scalar()?.as_string();
        Some((key, value(&found)?))
    });
    Value::Object(pairs.collect())
}

fn is_null(node: &YamlNode) -> bool {
    node.as_scalar().is_some_and(yaml_edit::Scalar::is_null)
}

#[cfg(test)]
mod tests;
