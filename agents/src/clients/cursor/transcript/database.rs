//! The conversations in the database of Cursor's editor, `globalStorage/state.vscdb`.
//!
//! The table `cursorDiskKV` has keys and values of JSON. `composerData:<id>` is a conversation. It
//! has the ids of its messages in order, or in older versions the messages. Each message has a row
//! `bubbleId:<id>:<message>`. A message that the list does not name was taken back.
//!
//! The database may have many gigabytes. So every query goes by key, and no value is read that is
//! longer than its limit.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anchord_memory::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::workspaces::{self, Workspaces};
use crate::limits::{TRANSCRIPT_DOCUMENT_BYTES_MAX, TRANSCRIPT_LINE_BYTES_MAX};
use crate::transcripts::{Conversation, Database, Each, Listed, Unread, bytes, parsed, text};

pub(super) const DATABASE: Database = Database { conversations, lines };

/// Selects each conversation's id, whether its value is longer than `?1`, and a list of what is
/// needed of it: NULL if it is too long or not JSON.
const CONVERSATIONS: &str = "SELECT substr(key, 14), octet_length(value) > ?1, \
     CASE WHEN octet_length(value) <= ?1 AND json_valid(CAST(value AS TEXT)) \
     THEN json_extract(CAST(value AS TEXT), '$.createdAt', '$.lastUpdatedAt', \
     '$.workspaceIdentifier', '$.subagentInfo', '$.subagentComposerIds', '$.subComposerIds', \
     '$.fullConversationHeadersOnly[0]', '$.conversation[0].type') END FROM cursorDiskKV \
     WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL";

/// Selects whether a conversation has a message with a row.
const HAS_MESSAGES: &str = "SELECT EXISTS (SELECT 1 FROM cursorDiskKV \
     WHERE key >= 'bubbleId:' || ?1 || ':' AND key < 'bubbleId:' || ?1 || ';')";

/// Selects a conversation's list of messages and its times. `?1` is its key.
const ABOUT: &str = "SELECT json_extract(CAST(value AS TEXT), '$.fullConversationHeadersOnly', \
     '$.createdAt', '$.lastUpdatedAt') FROM cursorDiskKV WHERE key = ?1";

/// Selects the messages that are part of a conversation.
const INLINE: &str = "SELECT each.value FROM cursorDiskKV, \
     json_each(CAST(cursorDiskKV.value AS TEXT), '$.conversation') AS each \
     WHERE cursorDiskKV.key = ?1";

/// Selects a message, unless it is longer than `?2`.
const MESSAGE: &str = "SELECT octet_length(value) > ?2, \
     CASE WHEN octet_length(value) <= ?2 THEN value END FROM cursorDiskKV WHERE key = ?1";

fn conversations(connection: &Connection, path: &Path) -> rusqlite::Result<Listed> {
    let mut listing = Listing::of(path);
    listing.read_heads(connection)?;
    if let Err(reason) = listing.read_conversations(connection) {
        // What was listed before the damage is read.
        let what = match listing.listed.conversations.len() {
            0 => reason.to_string(),
            before => format!("{reason}, after {before} of its conversations"),
        };
        listing.unlisted(what);
    }
    Ok(listing.finished())
}

/// The conversations, while they are read.
struct Listing<'path> {
    path: &'path Path,
    listed: Listed,
    /// The entries of the list of conversations, by id.
    heads: HashMap<String, Head>,
    /// The conversations of subagents.
    subagents: HashSet<String>,
}

/// An entry of the list of conversations, which newer versions keep beside them.
#[derive(Default)]
struct Head {
    directory: Option<String>,
    workspace: Option<String>,
    modified: Option<Timestamp>,
}

impl<'path> Listing<'path> {
    fn of(path: &'path Path) -> Self {
        Self { path, listed: Listed::default(), heads: HashMap::new(), subagents: HashSet::new() }
    }

    /// Reads the list of conversations, which is a table or, in older versions, a value. The
    /// conversations are read without it, too.
    fn read_heads(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if has_table(connection, "composerHeaders")?
            && let Err(reason) = self.read_table(connection)
        {
            self.unlisted(reason.to_string());
        }
        if has_table(connection, "ItemTable")? {
            match workspaces::composers(connection, "composer.composerHeaders") {
                Ok(composers) => {
                    for composer in composers {
                        self.note_head(text(&composer, "composerId"), &composer);
                    }
                }
                Err(reason) => self.unlisted(reason.to_string()),
            }
        }
        Ok(())
    }

    fn read_table(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut query = connection.prepare(
            "SELECT composerId, workspaceId, lastUpdatedAt, isSubagent, value FROM composerHeaders",
        )?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let Ok(id) = row.get_ref(0)?.as_str() else { continue };
            let value = row.get_ref(4)?;
            match serde_json::from_slice(bytes(value)) {
                Ok(value) => self.note_head(id, &value),
                Err(_) if value == ValueRef::Null => {}
                Err(_) => self.unlisted(format!("its entry {id} of composerHeaders is not JSON")),
            }
            let workspace = row.get_ref(1)?.as_str().ok().map(str::to_owned);
            let modified = row.get_ref(2)?.as_i64().ok().map(Timestamp);
            let head = self.heads.entry(id.to_owned()).or_default();
            head.workspace = head.workspace.take().or(workspace);
            head.modified = head.modified.max(modified);
            if row.get_ref(3)?.as_i64().is_ok_and(|flag| flag != 0) {
                self.subagents.insert(id.to_owned());
            }
        }
        Ok(())
    }

    fn note_head(&mut self, id: &str, value: &Value) {
        if is_subagent(value.get("subagentInfo")) {
            self.subagents.insert(id.to_owned());
        }
        let about = value.get("workspaceIdentifier").unwrap_or(&Value::Null);
        let head = self.heads.entry(id.to_owned()).or_default();
        head.directory = head.directory.take().or_else(|| workspaces::directory(about));
        let workspace = Some(text(about, "id").to_owned()).filter(|id| !id.is_empty());
        head.workspace = head.workspace.take().or(workspace);
        head.modified = head.modified.max(value.get("lastUpdatedAt").and_then(moment));
    }

    fn read_conversations(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut has_messages = connection.prepare(HAS_MESSAGES)?;
        let mut query = connection.prepare(CONVERSATIONS)?;
        let mut rows = query.query([TRANSCRIPT_DOCUMENT_BYTES_MAX.cast_signed()])?;
        while let Some(row) = rows.next()? {
            let Ok(id) = row.get_ref(0)?.as_str().map(str::to_owned) else { continue };
            let column = row.get_ref(2)?;
            if column == ValueRef::Null {
                let most = TRANSCRIPT_DOCUMENT_BYTES_MAX >> 20;
                let what = if row.get(1)? {
                    format!("longer than {most} MiB")
                } else {
                    "not JSON".to_owned()
                };
                self.listed.unread.push((id, format!("it is {what}")));
                continue;
            }
            let about: Vec<Value> = serde_json::from_slice(bytes(column)).unwrap_or_default();
            let field = |at: usize| about.get(at).unwrap_or(&Value::Null);
            for of_subagents in [field(4), field(5)] {
                let ids = of_subagents.as_array().into_iter().flatten().filter_map(Value::as_str);
                self.subagents.extend(ids.map(str::to_owned));
            }
            if is_subagent(Some(field(3))) {
                self.subagents.insert(id.clone());
            }
            // A draft has no message. Cursor may also have removed those of an old conversation.
            let mut has_rows = || has_messages.query_row([&id], |row| row.get::<_, bool>(0));
            let is_there = !field(7).is_null() || (!field(6).is_null() && has_rows()?);
            if is_there {
                let head = self.heads.get(&id);
                let times = [moment(field(0)), moment(field(1)), head.and_then(|of| of.modified)];
                let modified = times.into_iter().flatten().max().unwrap_or_default();
                let cwd = workspaces::directory(field(2));
                let cwd = cwd.or_else(|| head.and_then(|head| head.directory.clone()));
                self.listed.conversations.push(Conversation { id, cwd, modified });
            }
        }
        Ok(())
    }

    /// Leaves out subagents, and finds the directories that no conversation names itself.
    fn finished(mut self) -> Listed {
        self.listed.conversations.retain(|found| !self.subagents.contains(&found.id));
        self.listed.unread.retain(|(id, _)| !self.subagents.contains(id));
        let user = self.path.parent().and_then(Path::parent).unwrap_or(self.path);
        let workspaces = Workspaces::within(user.join("workspaceStorage"));
        let unknown = |found: &&mut Conversation| found.cwd.is_none();
        for found in self.listed.conversations.iter_mut().filter(unknown) {
            let workspace = self.heads.get(&found.id).and_then(|head| head.workspace.as_ref());
            found.cwd = workspace.and_then(|workspace| workspaces.folder(workspace));
        }
        if self.listed.conversations.iter_mut().any(|found| found.cwd.is_none()) {
            let by_id = workspaces.conversations(&mut self.listed.unlisted);
            for found in self.listed.conversations.iter_mut().filter(unknown) {
                found.cwd = by_id.get(&found.id).cloned();
            }
        }
        self.listed
    }

    fn unlisted(&mut self, reason: String) {
        self.listed.unlisted.push((self.path.to_owned(), reason));
    }
}

fn is_subagent(about: Option<&Value>) -> bool {
    about.is_some_and(|about| !text(about, "parentComposerId").is_empty())
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let query = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
    connection.query_row(query, [name], |row| row.get(0))
}

fn lines(connection: &Connection, id: &str, each: &mut Each<'_>) -> rusqlite::Result<Unread> {
    let mut unread = Unread::default();
    let key = format!("composerData:{id}");
    let about = connection.query_row(ABOUT, [&key], |row| row.get::<_, String>(0)).optional()?;
    let about: Vec<Value> =
        about.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    // A message without a time has that of the one before, or else of the conversation.
    let mut time = about.iter().skip(1).find_map(moment).unwrap_or_default();
    let mut said = |bubble: &Value, head: &Value| {
        time = moment_of(bubble).or_else(|| moment_of(head)).unwrap_or(time);
        each(bubble, time);
    };
    let heads = about.first().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut query = connection.prepare(MESSAGE)?;
    for head in heads {
        let key = format!("bubbleId:{id}:{}", text(head, "bubbleId"));
        let mut rows = query.query((&key, TRANSCRIPT_LINE_BYTES_MAX.cast_signed()))?;
        // A message that Cursor has removed has no row, or one without a value.
        let Some(row) = rows.next()? else { continue };
        if row.get::<_, Option<bool>>(0)? == Some(true) {
            unread.too_long += 1;
            continue;
        }
        let column = row.get_ref(1)?;
        if column != ValueRef::Null
            && let Some(bubble) = parsed(column, &mut unread)
        {
            said(&bubble, head);
        }
    }
    if heads.is_empty() {
        let mut query = connection.prepare(INLINE)?;
        let mut rows = query.query([&key])?;
        while let Some(row) = rows.next()? {
            if let Some(bubble) = parsed(row.get_ref(0)?, &mut unread) {
                said(&bubble, &Value::Null);
            }
        }
    }
    Ok(unread)
}

/// Returns a message's time. The client's clock of its requests is what older versions have.
fn moment_of(bubble: &Value) -> Option<Timestamp> {
    let timing = |name: &str| bubble.get("timingInfo").and_then(|timing| timing.get(name));
    let times = [
        bubble.get("createdAt"),
        timing("clientRpcSendTime"),
        timing("clientSettleTime"),
        timing("clientEndTime"),
    ];
    times.into_iter().flatten().find_map(moment)
}

/// Returns a moment that is a text, or milliseconds since the epoch. A smaller number is one since
/// the start of the program.
fn moment(value: &Value) -> Option<Timestamp> {
    let millis = value.as_i64().filter(|millis| *millis >= YEAR_2001_MILLIS);
    value.as_str().and_then(Timestamp::parse).or_else(|| millis.map(Timestamp))
}

const YEAR_2001_MILLIS: i64 = 1_000_000_000_000;

#[cfg(test)]
mod tests;
