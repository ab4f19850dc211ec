//! The chain of digests over a journal.
//!
//! Equal digests at a `seq` mean equal entries up to it. Clients compute them; the database only
//! stores them. A digest is SHA-256 in hexadecimal. Its input is the digest before it and then each
//! field, in a fixed order, with its length in 8 bytes before it. An absent field has the length
//! `u64::MAX` and no bytes.

use sha2::{Digest, Sha256};

use crate::entry::{Entry, NewEntry};
use crate::error::Error;

/// The digest of an empty journal.
pub const FIRST_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Returns the digest of the entry that follows a journal with the digest `previous`.
pub fn chain(previous: &str, seq: u64, member: &str, entry: &NewEntry) -> String {
    let mut hash = Sha256::new();
    let mut field = |bytes: Option<&[u8]>| {
        let length = bytes.map_or(u64::MAX, |bytes| bytes.len() as u64);
        hash.update(length.to_be_bytes());
        hash.update(bytes.unwrap_or_default());
    };
    field(Some(previous.as_bytes()));
    field(Some(&seq.to_be_bytes()));
    field(Some(entry.key.instance.as_bytes()));
    field(Some(&entry.key.number.to_be_bytes()));
    field(Some(entry.machine.as_bytes()));
    field(Some(member.as_bytes()));
    field(Some(&entry.time.to_be_bytes()));
    field(entry.session.as_deref().map(str::as_bytes));
    field(Some(entry.operation.as_bytes()));
    field(Some(entry.changes.as_bytes()));
    field(entry.reply.as_deref().map(str::as_bytes));
    base16ct::lower::encode_string(&hash.finalize())
}

/// Checks that entries continue a journal that ends at `after` with `digest`. Returns the digest of
/// the last one. Fails with [`Error::Damaged`] if an entry is missing or changed.
pub fn verify(after: u64, digest: &str, entries: &[Entry]) -> Result<String, Error> {
    let mut digest = digest.to_owned();
    let mut seq = after;
    for entry in entries {
        seq += 1;
        if entry.seq != seq {
            return Err(Error::Damaged(format!("entry {seq} is missing")));
        }
        digest = chain(&digest, seq, &entry.member, &entry.content);
        if digest != entry.digest {
            return Err(Error::Damaged(format!("the digest of entry {seq} does not match")));
        }
    }
    Ok(digest)
}

#[cfg(test)]
mod tests;
