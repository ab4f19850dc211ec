//! Reads forgotten records from the journal, of which a memory has the heads.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchord_memory::{Record, RecordId, Seq};

use super::{Answer, store_error, write_error};
use crate::blocking::run_blocking;
use crate::project::OpenProject;

/// Returns the whole records of those among `records` that are heads. One that the journal lacks is
/// left out. Reads up to the whole journal, once.
pub(super) async fn whole_records(
    open: &OpenProject,
    records: impl Iterator<Item = &Arc<Record>>,
) -> Answer<BTreeMap<RecordId, Record>> {
    let heads = records.filter(|record| record.is_head);
    let mut versions: BTreeMap<_, _> = heads.map(|head| (head.id, head.version)).collect();
    if versions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let reading = open.owner.ask(|store, _| store.reading()).await.map_err(write_error)?;
    // The owner serves sessions meanwhile.
    let read = run_blocking(move || {
        let mut whole = BTreeMap::new();
        let read = reading(Seq(1), &mut |entry| {
            for record in entry.changes.iter().filter_map(|change| change.record()) {
                if versions.get(&record.id) == Some(&record.version) && !record.is_head {
                    versions.remove(&record.id);
                    whole.insert(record.id, Record::clone(record));
                }
            }
            !versions.is_empty()
        });
        read.map(|()| whole)
    });
    read.await.map_err(store_error)
}
