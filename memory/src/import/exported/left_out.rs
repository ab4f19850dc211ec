//! Records that an import leaves out for what is here: how many, and the names of the first.

use crate::fold::{clip, one_line};
use crate::ids::Kind;
use crate::limits::{IMPORT_NAMED_MAX, NAME_CHARS_MAX};
use crate::record::Record;

/// Records that were left out for the same reason.
#[derive(Default)]
pub(super) struct LeftOut {
    pub(super) count: usize,
    names: Vec<String>,
}

impl LeftOut {
    /// Adds a record. The row of a session has no key that anybody would know it by, so it is only
    /// counted.
    pub(super) fn add(&mut self, record: &Record) {
        self.count += 1;
        if self.names.len() < IMPORT_NAMED_MAX && record.kind() != Kind::SessionRow {
            self.names.push(named(record));
        }
    }

    /// Words the end of a remark: that they are left out, and which ones.
    pub(super) fn end(&self) -> String {
        if self.names.is_empty() {
            return " left out".to_owned();
        }
        let rest = self.count - self.names.len();
        let more = (rest > 0).then(|| format!("{rest} more"));
        let named: Vec<String> = self.names.iter().cloned().chain(more).collect();
        format!(" left out: {}", named.join(", "))
    }
}

/// Names a record by its key, and by the id that it has there. The same id is another record here.
fn named(record: &Record) -> String {
    let key = record.note().and_then(|note| note.key.clone());
    let name = key.unwrap_or_else(|| record.body.fields().name());
    format!("{} ({} there)", clip(&one_line(&name), NAME_CHARS_MAX), record.id)
}
