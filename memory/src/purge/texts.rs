//! The texts that records and staged items hold.

use crate::brief::BriefMerge;
use crate::kinds::StagedItem as _;
use crate::record::Record;
use crate::staged::Staged;

/// Returns all texts of a record that somebody wrote, including tags.
pub(crate) fn of_record(record: &Record) -> Vec<&str> {
    let fields = record.body.fields();
    let mut texts = fields.own_texts();
    texts.extend(record.tags.iter().map(String::as_str));
    texts.extend(fields.other_texts());
    texts
}

/// Returns all texts of staged work, each with the name that it belongs to, if there is one.
pub(crate) fn of_staged(part: &Staged) -> Vec<(&str, &str)> {
    let mut texts: Vec<(&str, &str)> =
        part.summary.iter().map(|text| ("", text.as_str())).collect();
    texts.extend(part.items().iter().flat_map(|(_, item)| item.texts()));
    texts.extend(part.captured.iter().flat_map(|captured| captured.texts()).map(|text| ("", text)));
    texts
}

/// Returns all texts of a merge of the brief, with the names that they belong to.
pub(crate) fn of_merge(merge: &BriefMerge) -> Vec<(&str, &str)> {
    let files = merge.files_left.iter().map(|file| ("", file.as_str()));
    merge.part.texts().into_iter().chain(files).collect()
}
