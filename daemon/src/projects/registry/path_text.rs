//! Lossless text for paths in JSON. A UTF-8 path is written as it is. Any other is written as a
//! NUL, which no path contains, followed by its bytes in hexadecimal.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

/// Encodes a path as text.
pub(in crate::projects) fn encode(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    format!("\0{}", base16ct::lower::encode_string(path.as_os_str().as_bytes()))
}

/// Decodes a path from text made by [`encode`]. Returns any other text unchanged, as a path.
pub(in crate::projects) fn decode(text: &str) -> PathBuf {
    let bytes = text.strip_prefix('\0').and_then(|hex| base16ct::mixed::decode_vec(hex).ok());
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
