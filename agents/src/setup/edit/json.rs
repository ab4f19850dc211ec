//! JSON as agents write it, with comments and trailing commas if they accept them.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use serde_json::Value;

use super::{Clash, Document, Step, clash, without_mark};

/// The order in which the keys of a new object are written, for people. Other keys follow by name.
const ORDER: [&str; 9] =
    ["type", "name", "matcher", "hooks", "command", "args", "env", "enabled", "timeout"];

/// The additions to JSON that a file may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Comments and trailing commas.
    Jsonc,
    /// Everything of JSON5.
    Json5,
}

/// A JSON file.
pub(crate) struct Json {
    root: CstRootNode,
    mark: &'static str,
}

impl Json {
    /// Parses a file's text, with comments and trailing commas. An empty one is an empty object.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, Dialect::Jsonc)
    }

    /// Parses a file's text, with all that JSON5 adds. An empty one is an empty object.
    pub(crate) fn parse_json5(text: &str) -> Result<Self, String> {
        Self::parse_with(text, Dialect::Json5)
    }

    fn parse_with(text: &str, dialect: Dialect) -> Result<Self, String> {
        let loose = dialect == Dialect::Json5;
        let (mark, text) = without_mark(text);
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_loose_object_property_names: loose,
            allow_single_quoted_strings: loose,
            allow_hexadecimal_numbers: loose,
            allow_unary_plus_numbers: loose,
            allow_bare_decimal_point_numbers: loose,
            allow_non_finite_numbers: loose,
            allow_extended_string_escapes: loose,
        };
        let root = CstRootNode::parse(text, &options).map_err(|error| error.to_string())?;
        if root.value().is_some_and(|value| value.as_object().is_none()) {
            return Err("the file does not contain a JSON object".to_owned());
        }
        Ok(Self { root, mark })
    }

    fn node(&self, at: &[Step]) -> Option<CstNode> {
        at.iter().try_fold(self.root.value()?, |node, step| child(&node, step))
    }
}

impl Document for Json {
    fn get(&self, at: &[Step]) -> Option<Value> {
        value(&self.node(at)?)
    }

    fn set(&mut self, at: &[Step], value: &Value) -> Result<(), Clash> {
        let Some((last, way)) = at.split_last() else { return Err(clash(at, "a place")) };
        let root = self.root.object_value_or_create().ok_or_else(|| clash(&[], "an object"))?;
        let mut node = CstNode::from(jsonc_parser::cst::CstContainerNode::Object(root));
        for (depth, step) in way.iter().enumerate() {
            if child(&node, step).is_none() {
                let list = matches!(at.get(depth + 1), Some(Step::Index(_)));
                let empty = if list {
                    CstInputValue::Array(Vec::new())
                } else {
                    CstInputValue::Object(Vec::new())
                };
                put(&node, step, empty).ok_or_else(|| holder(at, depth, step))?;
            }
            node = child(&node, step).ok_or_else(|| holder(at, depth, step))?;
        }
        put(&node, last, input(value)).ok_or_else(|| holder(at, way.len(), last))
    }

    fn remove(&mut self, at: &[Step]) {
        let Some((last, way)) = at.split_last() else { return };
        let Some(node) = self.node(way) else { return };
        match last {
            Step::Key(key) => {
                if let Some(found) = node.as_object().and_then(|object| object.get(key)) {
                    found.remove();
                }
            }
            Step::Index(index) => {
                let elements = node.as_array().map(|list| list.elements()).unwrap_or_default();
                if let Some(found) = elements.into_iter().nth(*index) {
                    found.remove();
                }
            }
        }
    }

    fn text(&self) -> String {
        format!("{}{}", self.mark, self.root)
    }
}

fn holder(at: &[Step], depth: usize, step: &Step) -> Clash {
    let wanted = match step {
        Step::Key(_) => "an object",
        Step::Index(_) => "a list",
    };
    clash(at.get(..depth).unwrap_or_default(), wanted)
}

fn child(node: &CstNode, step: &Step) -> Option<CstNode> {
    match step {
        Step::Key(key) => node.as_object()?.get(key)?.value(),
        Step::Index(index) => node.as_array()?.elements().into_iter().nth(*index),
    }
}

fn put(node: &CstNode, step: &Step, value: CstInputValue) -> Option<()> {
    match step {
        Step::Key(key) => {
            let object = node.as_object()?;
            match object.get(key) {
                Some(known) => known.set_value(value),
                None => drop(object.append(key, value)),
            }
        }
        Step::Index(index) => {
            let list = node.as_array()?;
            if let Some(known) = list.elements().into_iter().nth(*index) {
                known.remove();
                list.insert(*index, value);
            } else {
                list.append(value);
            }
        }
    }
    Some(())
}

fn value(node: &CstNode) -> Option<Value> {
    if let Some(object) = node.as_object() {
        let pairs = object
            .properties()
            .into_iter()
            .filter_map(|property| Some((property.decoded_name()?, value(&property.value()?)?)));
        return Some(Value::Object(pairs.collect()));
    }
    if let Some(list) = node.as_array() {
        return Some(Value::Array(list.elements().iter().filter_map(value).collect()));
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(Value::String);
    }
    if let Some(truth) = node.as_boolean_lit() {
        return Some(Value::Bool(truth.value()));
    }
    // JSON5 has numbers that JSON does not know; no caller needs them.
    Some(serde_json::from_str(&node.to_string()).unwrap_or(Value::Null))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().map(|(key, v)| (key.clone(), input(v))).collect();
            // The sort is stable, so the other keys stay in the order of their names.
            pairs.sort_by_key(|(key, _)| {
                ORDER.iter().position(|known| known == key).unwrap_or(ORDER.len())
            });
            CstInputValue::Object(pairs)
        }
    }
}

#[cfg(test)]
mod tests;
