//! The instance's key, and the resume tokens that it authenticates.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anchord_memory::SessionId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{InstanceError, read_private, replace_private};

/// 32 random bytes that never leave the instance directory.
pub struct Key([u8; 32]);

impl Key {
    /// Reads the key, or creates it.
    pub(super) fn load(path: &Path) -> Result<Self, InstanceError> {
        if let Some(key) = Self::read(path)? {
            return Ok(key);
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| InstanceError::Damaged {
            path: path.to_owned(),
            why: format!("there is no randomness to make one: {error}"),
        })?;
        replace_private(path, &key)?;
        Ok(Self(key))
    }

    /// Reads the key, if it exists.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, InstanceError> {
        let Some(bytes) = read_private(path)? else { return Ok(None) };
        let damaged = |why: &str| InstanceError::Damaged { path: path.to_owned(), why: why.into() };
        let key = bytes.try_into().map_err(|_| damaged("a key has 32 bytes; delete it"))?;
        let meta = std::fs::symlink_metadata(path).map_err(super::io_error("look at", path))?;
        if meta.mode() & 0o077 != 0 {
            let why = "others may read it; `anchord doctor --fix` makes it yours alone";
            return Err(InstanceError::Untrusted { path: path.to_owned(), why });
        }
        Ok(Some(Self(key)))
    }

    /// Returns a token with which the shim `instance` resumes this session: the session, a dot, the
    /// MAC.
    pub fn sign(&self, session: &SessionId, instance: &str) -> String {
        let mac = self.mac(&session.0, instance).finalize().into_bytes();
        format!("{session}.{}", base16ct::lower::encode_string(&mac))
    }

    /// Returns the session of a token that this key signed for this shim. Takes the same time for
    /// every wrong MAC.
    pub fn verify(&self, token: &str, instance: &str) -> Option<SessionId> {
        let (session, hex) = token.rsplit_once('.')?;
        self.mac(session, instance).verify_slice(&base16ct::lower::decode_vec(hex).ok()?).ok()?;
        Some(SessionId::new(session))
    }

    fn mac(&self, session: &str, instance: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of every length");
        mac.update(b"anchord resume 1");
        // With its length in front, the end of one cannot pass for the beginning of the other.
        mac.update(&(instance.len() as u64).to_be_bytes());
        mac.update(instance.as_bytes());
        mac.update(session.as_bytes());
        mac
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
