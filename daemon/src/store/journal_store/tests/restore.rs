//! Restoring a backup on a disk that fails or loses its power.

use std::io::Write as _;

use super::tally::Tally;
use super::*;
use crate::store::backup::{BackupHeader, BackupWriter, backup_line};
use crate::store::restore::restore;
use crate::store::{Entry, Fault};

/// Returns a store with entries, closed.
fn filled(key: &str, number: i64) -> (Machinery, Vec<Entry<tally::Sum>>) {
    let machinery = Machinery::default();
    let mut writer = machinery.open().unwrap();
    let entries = (1..=number).map(|by| writer.add(key, by)).collect();
    writer.store.close();
    (machinery, entries)
}

fn backup_of(entries: &[Entry<tally::Sum>]) -> tempfile::NamedTempFile {
    let header = BackupHeader::new::<Tally>(String::new(), String::new(), Timestamp(1));
    let mut writer = BackupWriter::new(Vec::new(), &header).unwrap();
    for entry in entries {
        let mut line = Vec::new();
        backup_line(entry, &mut line);
        writer.line(line.trim_ascii_end()).unwrap();
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&writer.finish().unwrap()).unwrap();
    file
}

#[test]
fn a_restore_that_fails_at_any_point_leaves_the_old_memory_or_the_new() {
    let (filled_before, old) = filled("old", 12);
    let (_, new) = filled("new", 20);
    let backup = backup_of(&new);
    for fault in [Fault::Once, Fault::From] {
        let (mut kept, mut replaced) = (0, 0);
        for n in 1.. {
            let machinery = filled_before.duplicate();
            machinery.disk.fail(Some(fault(n)));
            let done = restore::<Tally>(Path::new(DIR), &machinery.options(), backup.path());
            let is_over = machinery.disk.operations() < n;
            machinery.disk.fail(None);
            for seed in 0..4 {
                let after = machinery.duplicate();
                if seed > 0 {
                    after.disk.power_loss(seed);
                    after.index.power_loss(seed);
                }
                let what = format!("{:?}, power loss {seed}", fault(n));
                let mut writer = after.open().unwrap();
                assert_eq!(writer.report.read_only, None, "{what}");
                let found = writer.journal();
                let is_new = found == new;
                assert!(is_new || found == old && done.is_err(), "{what}: {found:?}");
                *(if is_new { &mut replaced } else { &mut kept }) += 1;
                writer.add("later", 1);
            }
            if is_over {
                assert!(done.is_ok());
                break;
            }
        }
        assert!(kept > 20 && replaced > 20, "{kept} kept, {replaced} replaced");
    }
}
