//! A fingerprint as text: its bytes in base64, after the number of the form.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{CONTEXT_LINES_MAX, HASHES_MAX, TEXT_CHARS_MAX};
use crate::print::{Fingerprint, Symbol};

/// The form of the bytes: the digest, the number of lines, the symbol, then three lists of hashes.
/// They are of the lines, of those before and of those after. Numbers are little-endian.
const FORM: u8 = 1;

/// The mark of a symbol that the lines are not the whole of.
const PART: u8 = u8::MAX;

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(self.bytes()))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.len() > TEXT_CHARS_MAX {
            return Err(D::Error::custom("the fingerprint is too long"));
        }
        let bytes = URL_SAFE_NO_PAD.decode(&text).map_err(D::Error::custom)?;
        Self::read(&mut &*bytes)
            .ok_or_else(|| D::Error::custom("the fingerprint is cut or unknown"))
    }
}

impl Fingerprint {
    /// Returns the number of bytes that it takes as text.
    pub fn text_bytes(&self) -> usize {
        self.bytes().len().div_ceil(3) * 4
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORM];
        bytes.extend(self.digest.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        match &self.symbol {
            None => bytes.push(0),
            Some(symbol) => {
                bytes.push(symbol.kind);
                bytes.extend(symbol.name.to_le_bytes());
                bytes.extend(symbol.path.to_le_bytes());
                bytes.extend([symbol.lead.unwrap_or(PART), symbol.tail]);
            }
        }
        for hashes in [&self.hashes, &self.before, &self.after] {
            bytes.push(u8::try_from(hashes.len()).unwrap_or(u8::MAX));
            bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        }
        bytes
    }

    /// Reads a fingerprint that the bytes hold exactly.
    fn read(from: &mut &[u8]) -> Option<Self> {
        if byte(from)? != FORM {
            return None;
        }
        let digest = u64::from_le_bytes(take(from)?);
        let count = u32::from_le_bytes(take(from)?);
        let symbol = match byte(from)? {
            0 => None,
            kind => Some(Symbol {
                kind,
                name: u32::from_le_bytes(take(from)?),
                path: u32::from_le_bytes(take(from)?),
                lead: Some(byte(from)?).filter(|lead| *lead != PART),
                tail: byte(from)?,
            }),
        };
        let hashes = hashes(from)?;
        let (before, after) = (self::hashes(from)?, self::hashes(from)?);
        let kept = usize::try_from(count).ok()?.min(HASHES_MAX);
        let fits = hashes.len() == kept
            && kept > 0
            && before.len() <= CONTEXT_LINES_MAX
            && after.len() <= CONTEXT_LINES_MAX
            && from.is_empty();
        fits.then_some(Self { count, digest, hashes, before, after, symbol })
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*taken)
}

fn byte(from: &mut &[u8]) -> Option<u8> {
    take::<1>(from).map(|[byte]| byte)
}

fn hashes(from: &mut &[u8]) -> Option<Vec<u32>> {
    (0..byte(from)?).map(|_| take(from).map(u32::from_le_bytes)).collect()
}
