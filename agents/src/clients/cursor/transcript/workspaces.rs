//! The directories of Cursor's workspaces: `workspaceStorage/<id>/workspace.json` names a folder by
//! its address, and `state.vscdb` beside it lists the conversations of older versions.
//!
//! A workspace of several folders names none of them here, and a folder on another machine has an
//! address of another kind. The directory of such a conversation is not known.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use crate::limits::TRANSCRIPT_DOCUMENT_BYTES_MAX;
use crate::transcripts::{beside, bytes, directories, open, text};

/// The folder of the workspaces.
pub(super) struct Workspaces(PathBuf);

impl Workspaces {
    pub(super) fn within(storage: PathBuf) -> Self {
        Self(storage)
    }

    /// Returns the directory of a workspace.
    pub(super) fn folder(&self, id: &str) -> Option<String> {
        let is_name = !id.contains('/') && !id.starts_with('.');
        folder_of(&self.0.join(is_name.then_some(id)?))
    }

    /// Returns the directory of each conversation that a workspace lists. Adds the databases that
    /// cannot be read, with the reasons.
    pub(super) fn conversations(
        &self,
        unlisted: &mut Vec<(PathBuf, String)>,
    ) -> HashMap<String, String> {
        let mut found = HashMap::new();
        for place in directories(&self.0) {
            let path = place.join("state.vscdb");
            let Some(folder) = folder_of(&place) else { continue };
            if !path.try_exists().unwrap_or(true) {
                continue;
            }
            match open(&path).and_then(|database| composers(&database, "composer.composerData")) {
                Ok(listed) => {
                    let ids = listed.iter().map(|composer| text(composer, "composerId").to_owned());
                    found.extend(ids.map(|id| (id, folder.clone())));
                }
                Err(reason) => unlisted.push((path, reason.to_string())),
            }
        }
        found
    }
}

fn folder_of(workspace: &Path) -> Option<String> {
    let about = beside(&workspace.join("workspace.json"))?;
    local(text(&serde_json::from_str(&about).ok()?, "folder"))
}

/// Returns the conversations that a value of a database lists, if it is there.
pub(super) fn composers(connection: &Connection, key: &str) -> io::Result<Vec<Value>> {
    let query = "SELECT octet_length(value) > ?2, \
         CASE WHEN octet_length(value) <= ?2 THEN value END FROM ItemTable WHERE key = ?1";
    let limit = TRANSCRIPT_DOCUMENT_BYTES_MAX.cast_signed();
    let row = connection.query_row(query, (key, limit), |row| {
        let is_long = row.get::<_, Option<bool>>(0)?.unwrap_or_default();
        Ok((is_long, serde_json::from_slice::<Value>(bytes(row.get_ref(1)?))))
    });
    match row.optional().map_err(io::Error::other)? {
        None => Ok(Vec::new()),
        Some((true, _)) => {
            let most = TRANSCRIPT_DOCUMENT_BYTES_MAX >> 20;
            Err(io::Error::other(format!("its {key} is longer than {most} MiB")))
        }
        Some((false, Err(_))) => Err(io::Error::other(format!("its {key} is not JSON"))),
        Some((false, Ok(mut value))) => match value.get_mut("allComposers").map(Value::take) {
            Some(Value::Array(composers)) => Ok(composers),
            _ => Ok(Vec::new()),
        },
    }
}

/// Returns the directory that a conversation's `workspaceIdentifier` names, if it is one of this
/// machine.
pub(super) fn directory(identifier: &Value) -> Option<String> {
    let uri = identifier.get("uri")?;
    if let Some(address) = uri.as_str() {
        return local(address);
    }
    let is_local = ["", "file"].contains(&text(uri, "scheme"));
    let path = [text(uri, "fsPath"), text(uri, "path")].into_iter().find(|path| !path.is_empty());
    path.filter(|path| is_local && path.starts_with('/')).map(str::to_owned)
}

/// Returns the path of an address `file:///…`.
fn local(address: &str) -> Option<String> {
    let path = address.strip_prefix("file://").filter(|path| path.starts_with('/'))?;
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let coded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = coded.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
