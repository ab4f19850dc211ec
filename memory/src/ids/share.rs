//! The ids of records that clones share through files.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::RecordId;
use crate::limits::SHARE_ID_CHARS;

/// The digits of an id: lower case, without letters that look like others.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The id of a record in every clone that shares it. It begins the name of the record's file and
/// never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShareId(Arc<str>);

/// The text is not the id of a shared record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a shared record")]
pub struct ParseShareIdError(String);

impl ShareId {
    /// Derives the id of a record that was created in a memory. `memory` names that memory and no
    /// other, so two clones that both create n12 create two ids.
    pub fn derive(memory: &str, record: RecordId) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(memory.as_bytes());
        hasher.update([0]);
        hasher.update(record.to_string().as_bytes());
        let digest = hasher.finalize();
        let digits = digest.iter().take(SHARE_ID_CHARS);
        let digits = digits.filter_map(|byte| DIGITS.get(usize::from(byte % 32)));
        Self(digits.map(|digit| char::from(*digit)).collect::<String>().into())
    }
}

impl fmt::Display for ShareId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ShareId {
    type Err = ParseShareIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() == SHARE_ID_CHARS && text.bytes().all(|byte| DIGITS.contains(&byte)) {
            return Ok(Self(text.into()));
        }
        Err(ParseShareIdError(text.chars().take(40).collect()))
    }
}
