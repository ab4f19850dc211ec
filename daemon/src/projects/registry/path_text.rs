//! Paths as text in JSON: as they are where they are UTF-8, else a NUL, which no path holds, and the
//! bytes in hexadecimal. Both ways without loss.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// The text of a path.
pub(in crate::projects) fn encode(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut text = String::from("\0");
    for byte in path.as_os_str().as_bytes() {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
    }
    text
}

/// The path of a text made by [`encode`]; text that it never makes is taken as it is.
pub(in crate::projects) fn decode(text: &str) -> PathBuf {
    let bytes = text.strip_prefix('\0').and_then(|hex| {
        hex.as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
            .collect::<Option<Vec<u8>>>()
    });
    bytes.map_or_else(|| PathBuf::from(text), |bytes| PathBuf::from(OsString::from_vec(bytes)))
}

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(path))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    String::deserialize(deserializer).map(|text| decode(&text))
}

/// Writes and reads a path that may be absent.
pub(super) mod optional {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it with the field's reference")]
    pub(in super::super) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(super::encode).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(|text| super::decode(&text)))
    }
}
