//! An object that may be given as a text alone.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A text, or an object that says more.
#[derive(Debug)]
pub(crate) enum TextOr<T> {
    Text(String),
    Object(T),
}

/// The number of fields that an error names.
const FIELDS_NAMED: usize = 3;

/// An object of a call, with the names of its fields. The first ones are those that matter most.
pub(crate) trait Object {
    const FIELDS: &'static [&'static str];
}

impl<'de, T: Deserialize<'de> + Object> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // The reader of calls matches the names of a struct's fields liberally.
        from.deserialize_struct("", T::FIELDS, TextOrObject(PhantomData))
    }
}

struct TextOrObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Object> Visitor<'de> for TextOrObject<T> {
    type Value = TextOr<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first: Vec<&str> = T::FIELDS.iter().copied().take(FIELDS_NAMED).collect();
        write!(f, "a text, or an object with {}", first.join(", "))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(TextOr::Object)
    }
}
