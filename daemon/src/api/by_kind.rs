//! A value for each kind of record, on the wire.

use std::collections::BTreeMap;

use anchord_memory::{Kind, PerKind};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value for each kind, under the kind's plural noun: `{"blueprints": 2, "sessions": 1}`. One
/// that is missing is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByKind<T: Default>(pub PerKind<T>);

impl<T: Copy + Default> ByKind<T> {
    /// Returns the value of one kind.
    pub fn of(&self, kind: Kind) -> T {
        self.0.of(kind)
    }
}

impl ByKind<u64> {
    /// Returns the sum of all kinds.
    pub fn total(&self) -> u64 {
        Kind::ALL.into_iter().map(|kind| self.of(kind)).sum()
    }
}

impl<T: Copy + Default + Serialize> Serialize for ByKind<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Kind::ALL.map(|kind| (kind.plural(), self.of(kind))))
    }
}

impl<'de, T: Copy + Default + DeserializeOwned> Deserialize<'de> for ByKind<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut named = BTreeMap::<String, Value>::deserialize(from)?;
        let mut values = PerKind::default();
        for kind in Kind::ALL {
            if let Some(value) = named.remove(kind.plural()) {
                *values.of_mut(kind) = serde_json::from_value(value).map_err(D::Error::custom)?;
            }
        }
        Ok(Self(values))
    }
}
