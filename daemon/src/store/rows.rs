//! The rows of indexes and snapshots: a state's rows and the ledger's, under their prefixes.

use anchord_memory::Seq;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::format::Crc;
use super::index::{Index, IndexError, META, REPLIES, STATE};
use super::limits::INDEX_BATCH_ROWS_MAX;
use super::{Replies, Row, StateMachine};

/// The index's row `meta`: the journal that it belongs to, and the last entry applied.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MetaV1 {
    pub(super) format: u32,
    pub(super) machine: String,
    pub(super) journal: Uuid,
    pub(super) epoch: u32,
    /// The last entry applied, with its line's checksum and position.
    pub(super) seq: Seq,
    pub(super) line: Crc,
    pub(super) at: Option<String>,
}

/// Writes rows together with the index's `meta` row, in parts if one batch cannot hold them.
pub(super) fn write_rows(
    index: &mut dyn Index,
    mut rows: impl Iterator<Item = Row>,
    meta: Row,
) -> Result<(), IndexError> {
    let parts = std::iter::from_fn(|| {
        let part: Vec<Row> = rows.by_ref().take(INDEX_BATCH_ROWS_MAX).collect();
        (!part.is_empty()).then_some(part)
    });
    write_parts(index, parts, meta)
}

/// Writes rows together with the index's `meta` row. Between two parts the index belongs to no
/// journal. A row may be in several parts, with the same value.
pub(super) fn write_parts(
    index: &mut dyn Index,
    parts: impl Iterator<Item = Vec<Row>>,
    meta: Row,
) -> Result<(), IndexError> {
    let mut parts = parts.peekable();
    let mut part = parts.next().unwrap_or_default();
    if parts.peek().is_some() {
        index.apply(&[Row { key: META.to_owned(), value: None }])?;
    }
    for next in parts {
        index.apply(&part)?;
        part = next;
    }
    part.push(meta);
    index.apply(&part)
}

/// Returns all rows of a snapshot.
pub(super) fn all_rows<'a, M: StateMachine>(
    state: &'a M,
    replies: &'a Replies,
) -> impl Iterator<Item = Row> + 'a {
    let prefixed =
        |prefix: &str, row: Row| Row { key: format!("{prefix}{}", row.key), value: row.value };
    let state = state.rows().map(move |row| prefixed(STATE, row));
    state.chain(replies.rows().map(move |row| prefixed(REPLIES, row)))
}

/// Reads the state and the reply ledger from the rows of a snapshot.
pub(super) fn restore<M: StateMachine>(rows: Vec<Row>) -> Result<(M, Replies), String> {
    let (mut replies, mut parts) = (Replies::default(), Vec::with_capacity(rows.len()));
    for Row { key, value } in rows {
        let Some(value) = value else { continue };
        if let Some(key) = key.strip_prefix(STATE) {
            parts.push(M::part(key, &value)?);
        } else if let Some(key) = key.strip_prefix(REPLIES) {
            replies.restore(&Row::of(key, &value)).map_err(|error| error.to_string())?;
        } else {
            return Err(format!("it has a row {key} that this anchord does not know"));
        }
    }
    Ok((M::restore(&mut parts.into_iter())?, replies))
}
