//! Field names and enumerated values as agents spell them.

use serde_json::{Map, Value};

use crate::spelling::{self, MEANS, same_name};

/// The number of characters shown of an unknown name.
const NAME_CHARS: usize = 60;

/// A field of the type, with the caller's name and value for it.
pub(super) struct Field {
    pub(super) known: &'static str,
    pub(super) name: String,
    pub(super) value: Value,
}

/// The fields of an object, matched to those of a type.
pub(super) struct Sorted {
    pub(super) taken: Vec<Field>,
    /// Names that are not taken.
    pub(super) ignored: Vec<Ignored>,
    /// Fields of the type that are not given.
    pub(super) absent: Vec<&'static str>,
}

/// A name that is not taken.
pub(super) struct Ignored {
    pub(super) name: String,
    /// The field that has it as a second name. `None` if it matches no field of the type.
    pub(super) second_of: Option<&'static str>,
}

/// Matches the given fields to the fields of a type. A field that is null counts as absent. If one
/// field has several names, its own wins, then the earliest in the table of synonyms. A blank value
/// gives way to any other.
pub(super) fn sort_out(known: &'static [&'static str], object: Map<String, Value>) -> Sorted {
    let mut taken: Vec<Field> = Vec::with_capacity(known.len());
    let mut rest: Vec<_> = object.into_iter().filter(|(_, value)| !value.is_null()).collect();
    for means in MEANS {
        let is_free = |known: &&&'static str| !taken.iter().any(|given| given.known == **known);
        let free: Vec<&'static str> = known.iter().filter(is_free).copied().collect();
        let rank = |name: &str| free.iter().find_map(|known| spelling::rank(known, name));
        // The sort is stable, so names without a rank stay in their order.
        rest.sort_by_cached_key(|(name, value)| (is_blank(value), rank(name)));
        let others = std::mem::take(&mut rest);
        for (name, value) in others {
            let is_free = |known: &&&'static str| !taken.iter().any(|given| given.known == **known);
            match known.iter().filter(is_free).find(|known| means(known, &name)) {
                Some(known) => taken.push(Field { known, name, value }),
                None => rest.push((name, value)),
            }
        }
    }
    rest.sort_by_cached_key(|(name, _)| known.iter().find_map(|known| spelling::rank(known, name)));
    for (name, value) in rest.iter_mut().filter(|(_, value)| !is_blank(value)) {
        let means = |given: &Field| spelling::may_mean(given.known, name);
        if let Some(given) = taken.iter_mut().find(|given| is_blank(&given.value) && means(given)) {
            std::mem::swap(&mut given.name, name);
            std::mem::swap(&mut given.value, value);
        }
    }
    let is_given = |known: &&'static str| taken.iter().any(|given| given.known == *known);
    let ignored = rest.into_iter().map(|(name, _)| {
        let second_of =
            known.iter().copied().filter(is_given).find(|known| spelling::may_mean(known, &name));
        Ignored { name, second_of }
    });
    let mut ignored: Vec<Ignored> = ignored.collect();
    ignored.sort_by(|one, other| one.name.cmp(&other.name));
    let absent = known.iter().copied().filter(|known| !is_given(known)).collect();
    Sorted { taken, ignored, absent }
}

/// Returns whether a value says nothing.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the enumerated value that a text means, or the text unchanged.
pub(super) fn variant(variants: &[&str], text: String) -> String {
    if variants.contains(&text.as_str()) {
        return text;
    }
    let meant = variants.iter().find(|variant| same_name(variant, text.trim()));
    meant.map_or(text, |variant| (*variant).to_owned())
}

/// Shortens a caller's name so that it can be shown.
pub(super) fn shortened(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

/// Returns the absent field nearest to an unknown name, if one is near. A name that is too long to
/// be shown is near to no field.
pub(super) fn nearest(absent: &[&'static str], name: &str) -> Option<&'static str> {
    if name.chars().nth(NAME_CHARS).is_some() {
        return None;
    }
    spelling::nearest(absent, name)
}
