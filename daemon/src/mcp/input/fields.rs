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
    /// Names that match no field of the type.
    pub(super) unknown: Vec<String>,
    /// Fields of the type that are not given.
    pub(super) absent: Vec<&'static str>,
}

/// Matches the given fields to the fields of a type. A field that is null counts as absent.
pub(super) fn sort_out(known: &'static [&'static str], object: Map<String, Value>) -> Sorted {
    let mut taken: Vec<Field> = Vec::with_capacity(known.len());
    let mut rest: Vec<_> = object.into_iter().filter(|(_, value)| !value.is_null()).collect();
    for means in MEANS {
        let others = std::mem::take(&mut rest);
        for (name, value) in others {
            let is_free = |known: &&&'static str| !taken.iter().any(|given| given.known == **known);
            match known.iter().filter(is_free).find(|known| means(known, &name)) {
                Some(known) => taken.push(Field { known, name, value }),
                None => rest.push((name, value)),
            }
        }
    }
    let absent: Vec<&'static str> = known
        .iter()
        .copied()
        .filter(|known| !taken.iter().any(|given| given.known == *known))
        .collect();
    Sorted { taken, unknown: rest.into_iter().map(|(name, _)| name).collect(), absent }
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
