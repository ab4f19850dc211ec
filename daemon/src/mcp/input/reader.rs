//! A deserializer over JSON that converts what was sent to what the type needs. Numbers and
//! booleans may come as text, text as a whole number, and a list as a single value. A null in a
//! list counts as absent.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Number, Value};

use super::fields::{self, Field, Ignored, Sorted};
use super::{CallersNames, UnknownField, UnknownFields, joined};

/// A place in the object that is read.
pub(super) enum Path<'p> {
    Start,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => Ok(()),
            Self::Field(Path::Start, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, at) => write!(f, "{parent}[{at}]"),
        }
    }
}

/// The unknown fields, the caller's names and the place of the error, collected while an object is
/// read.
#[derive(Default)]
pub(super) struct Report {
    /// The object's path in the call.
    start: String,
    /// The place of the first error.
    failed_at: RefCell<Option<String>>,
    unknown: RefCell<UnknownFields>,
    names: RefCell<CallersNames>,
}

impl Report {
    pub(super) fn of(start: &str) -> Self {
        Self { start: start.to_owned(), ..Self::default() }
    }

    pub(super) fn into_parts(self) -> (Option<String>, UnknownFields, CallersNames) {
        (self.failed_at.into_inner(), self.unknown.into_inner(), self.names.into_inner())
    }

    /// Records the place of an error. The innermost place is recorded first and stays.
    fn failed(&self, path: &Path<'_>) {
        self.failed_at.borrow_mut().get_or_insert_with(|| path.to_string());
    }
}

/// One value of a call.
pub(super) struct Reader<'r> {
    value: Value,
    path: &'r Path<'r>,
    report: &'r Report,
}

impl<'r> Reader<'r> {
    pub(super) fn new(value: Value, path: &'r Path<'r>, report: &'r Report) -> Self {
        Self { value, path, report }
    }
}

/// Converts the value to what the type needs, then forwards to the value's own method.
macro_rules! read_as {
    ($form:ident: $($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            $form(self.value).$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    read_as! { as_whole:
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }
    read_as! { as_number: deserialize_f32 deserialize_f64 }
    read_as! { as_boolean: deserialize_bool }
    read_as! { as_text: deserialize_str deserialize_string }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.value.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self { value, path, report } = self;
        match value {
            Value::Array(items) => {
                visitor.visit_seq(Items { items: items.into_iter().enumerate(), path, report })
            }
            Value::String(_) | Value::Number(_) | Value::Object(_) => {
                visitor.visit_seq(Single { value: Some(value), path, report })
            }
            value => value.deserialize_seq(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Self { value, path, report } = self;
        // A type may take a text in place of an object.
        let Value::Object(object) = value else { return value.deserialize_any(visitor) };
        let Sorted { taken, ignored, absent } = fields::sort_out(known, object);
        for Ignored { name, second_of } in ignored {
            report.unknown.borrow_mut().add(name, second_of, 1, |name| {
                let like = fields::nearest(&absent, &name).filter(|_| second_of.is_none());
                let place = joined(&report.start, &path.to_string());
                UnknownField { name, second_of, place, more: 0, like }
            });
        }
        for Field { known, name, .. } in &taken {
            let is_inner = !matches!(path, Path::Start);
            report.names.borrow_mut().add(is_inner, known, name);
        }
        visitor.visit_map(Fields { given: taken.into_iter(), next: None, path, report })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let value = match self.value {
            Value::String(text) => Value::String(fields::variant(variants, text)),
            value => value,
        };
        value.deserialize_enum(name, variants, visitor)
    }
}

/// A list's items.
struct Items<'r> {
    items: std::iter::Enumerate<std::vec::IntoIter<Value>>,
    path: &'r Path<'r>,
    report: &'r Report,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some((at, value)) = self.items.find(|(_, value)| !value.is_null()) else {
            return Ok(None);
        };
        let path = Path::Item(self.path, at);
        let read = seed.deserialize(Reader::new(value, &path, self.report));
        read.inspect_err(|_| self.report.failed(&path)).map(Some)
    }
}

/// One value given where a list is expected.
struct Single<'r> {
    value: Option<Value>,
    path: &'r Path<'r>,
    report: &'r Report,
}

impl<'de> SeqAccess<'de> for Single<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some(value) = self.value.take() else { return Ok(None) };
        seed.deserialize(Reader::new(value, self.path, self.report)).map(Some)
    }
}

/// An object's fields, under the type's names for them.
struct Fields<'r> {
    given: std::vec::IntoIter<Field>,
    next: Option<Field>,
    path: &'r Path<'r>,
    report: &'r Report,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next = self.given.next();
        let Some(given) = &self.next else { return Ok(None) };
        seed.deserialize(StrDeserializer::new(given.known)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let Field { name, value, .. } = self.next.take().expect("serde asks for the key first");
        let path = Path::Field(self.path, &name);
        let read = seed.deserialize(Reader::new(value, &path, self.report));
        read.inspect_err(|_| self.report.failed(&path))
    }
}

/// The magnitude above which a float may differ from the whole number that was written.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Converts `5.0`, `"5"` and `"5.0"` to a whole number. Leaves everything else alone.
pub(super) fn as_whole(value: Value) -> Value {
    let whole = match &value {
        Value::Number(number) => number.as_f64().filter(|_| number.is_f64()).and_then(whole_float),
        Value::String(text) => {
            let text = text.trim();
            let unsigned = text.parse::<u64>().map(Number::from).ok();
            let signed = || text.parse::<i64>().map(Number::from).ok();
            unsigned.or_else(signed).or_else(|| whole_float(text.parse().ok()?))
        }
        _ => None,
    };
    whole.map_or(value, Value::Number)
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small enough")]
fn whole_float(float: f64) -> Option<Number> {
    let is_whole = float.fract() == 0.0 && float.abs() < EXACT_FLOAT;
    is_whole.then(|| Number::from(float as i64))
}

fn as_number(value: Value) -> Value {
    let number = value.as_str().and_then(|text| Number::from_f64(text.trim().parse().ok()?));
    number.map_or(value, Value::Number)
}

/// Converts `"true"`, `"yes"` and 1 to true, and their opposites to false.
fn as_boolean(value: Value) -> Value {
    let word = match &value {
        Value::String(text) => text.trim().to_ascii_lowercase(),
        Value::Number(_) => as_whole(value.clone()).to_string(),
        _ => return value,
    };
    match word.as_str() {
        "true" | "yes" | "y" | "on" | "1" => Value::Bool(true),
        "false" | "no" | "n" | "off" | "0" => Value::Bool(false),
        _ => value,
    }
}

/// Converts a whole number to text, and takes the text of a list of one. A float is left alone:
/// `1.10` read as a number has lost its last digit.
fn as_text(value: Value) -> Value {
    match value {
        Value::Number(number) if !number.is_f64() => Value::String(number.to_string()),
        Value::Array(mut items) if matches!(items.as_slice(), [Value::String(_)]) => {
            items.remove(0)
        }
        value => value,
    }
}
