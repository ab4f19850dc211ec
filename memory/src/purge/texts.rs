//! The texts that records and staged items hold.

use crate::kinds::topic::part_texts;
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
    for blueprint in &part.blueprints {
        texts.extend([("", blueprint.title.as_str()), (&blueprint.title, &blueprint.content)]);
    }
    for anchor in &part.anchors {
        texts.extend([("", anchor.file.as_str()), ("", &anchor.concept)]);
    }
    for lesson in &part.lessons {
        texts.extend([("", lesson.summary.as_str()), (&lesson.summary, &lesson.detail)]);
        texts.extend(lesson.files.iter().map(|file| ("", file.as_str())));
    }
    for note in &part.notes {
        let key = note.key.as_deref().unwrap_or_default();
        texts.extend([("", key), (key, note.content.as_str()), ("", &note.summary)]);
        texts.extend(note.tags.iter().map(|tag| ("", tag.as_str())));
    }
    texts.extend(part.captured.iter().flat_map(|captured| captured.texts()).map(|text| ("", text)));
    for part in &part.topics {
        let files = part.files.iter().chain(&part.name).map(String::as_str);
        texts.extend(part_texts(part).into_iter().chain(files).map(|text| ("", text)));
    }
    texts
}
