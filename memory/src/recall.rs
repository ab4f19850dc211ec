//! Recall: what a reader gets for a query, filtered and ranked, over every kind at once.

mod about;

use std::cmp::Reverse;

use crate::files::normalise;
use crate::fold::names_path;
use crate::ids::{Kind, RecordId, Timestamp};
use crate::memory::{Memory, document};
use crate::reader::Reader;
use crate::record::{Body, Record, Standing};
use crate::search::{Find, Hit, Query, Tuning, as_written};
pub use about::{About, about};

/// What is looked for. Filters that are empty let everything through.
#[derive(Clone, Copy)]
pub struct Recall<'a> {
    /// Who reads.
    pub reader: &'a Reader,
    /// Words, `"phrases"` and `-words`; blank to rank by retention alone what the filters let through.
    pub query: &'a str,
    /// These kinds alone.
    pub kinds: &'a [Kind],
    /// With all of these tags.
    pub tags: &'a [String],
    /// The reader's own (true) or the project's (false) alone.
    pub own: Option<bool>,
    /// That concern this file, or one beneath this directory, or whose text names it; relative to the project's root, which is all files.
    pub file: Option<&'a str>,
    /// Written at or after.
    pub since: Option<Timestamp>,
    /// Written before.
    pub until: Option<Timestamp>,
    /// At most so many.
    pub limit: usize,
    /// The constants of ranking.
    pub tuning: &'a Tuning,
    /// What a record's retention makes of its score, in (0, 1].
    pub prior: &'a dyn Fn(&Record) -> f32,
    /// Tell what each word gave to each hit.
    pub explain: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Words that nothing has, and what was searched instead, as the best hit that has it writes it.
    pub corrected: Vec<(String, String)>,
}

/// Finds the best records for a query, the best first, ties by id.
pub fn recall(memory: &Memory, of: &Recall<'_>) -> Recalled {
    let query = Query::parse(of.query);
    if of.query.trim().is_empty() {
        return Recalled { hits: by_retention(memory, of), corrected: Vec::new() };
    }
    if query.is_empty() {
        // Signs alone, or only what is not wanted: nothing that could be found by it.
        return Recalled::default();
    }
    let file = of.file.map(normalise).filter(|file| !file.is_empty());
    let keep = |id: RecordId| {
        let record = memory.record(id)?;
        passes(record, of, file.as_deref()).then(|| (of.prior)(record))
    };
    let Recall { tuning, limit, explain, .. } = *of;
    let found = memory.search().find(&Find { query: &query, tuning, keep: &keep, limit, explain });
    let written = |(asked, term): (String, String)| {
        let hits = found.hits.iter().filter_map(|hit| memory.record(hit.id));
        let written =
            hits.filter_map(|record| document(record)).find_map(|it| as_written(&it, &term));
        (asked, written.unwrap_or(term))
    };
    let corrected = found.corrected.into_iter().map(written).collect();
    Recalled { hits: found.hits, corrected }
}

/// What the filters let through, most worth keeping first.
fn by_retention(memory: &Memory, of: &Recall<'_>) -> Vec<Hit> {
    let file = of.file.map(normalise).filter(|file| !file.is_empty());
    let mut found: Vec<(f32, &Record)> = memory
        .records()
        .map(|record| &**record)
        .filter(|record| passes(record, of, file.as_deref()))
        .map(|record| ((of.prior)(record), record))
        .collect();
    found.sort_by(|(a, one), (b, other)| {
        b.total_cmp(a).then_with(|| Reverse(one.id.number).cmp(&Reverse(other.id.number)))
    });
    found.truncate(of.limit);
    let hit = |(prior, record): (f32, &Record)| Hit {
        id: record.id,
        score: prior,
        why: Vec::new(),
        prior,
        neighbours: 0.0,
    };
    found.into_iter().map(hit).collect()
}

fn passes(record: &Record, of: &Recall<'_>, file: Option<&str>) -> bool {
    let time = record.updated.time;
    record.standing != Standing::Forgotten
        && of.reader.sees(record)
        && (of.kinds.is_empty() || of.kinds.contains(&record.kind()))
        && of.tags.iter().all(|tag| record.tags.contains(tag))
        && of.own.is_none_or(|own| own == record.owner().is_some())
        && file.is_none_or(|file| concerns(record, file))
        && of.since.is_none_or(|since| time >= since)
        && of.until.is_none_or(|until| time < until)
}

/// Whether a record is about a file: it names it, or a note's text does.
fn concerns(record: &Record, file: &str) -> bool {
    let beneath = |path: &str| {
        path.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match &record.body {
        Body::Anchor(anchor) => beneath(&anchor.file),
        Body::Lesson(lesson) => lesson.files.iter().any(|path| beneath(path)),
        Body::Topic(topic) => topic.files.iter().any(|path| beneath(path)),
        Body::Note(note) => names_path(&note.content, file),
        Body::Blueprint(blueprint) => names_path(&blueprint.content, file),
        Body::SessionRow(row) => names_path(&row.summary, file),
    }
}

#[cfg(test)]
mod tests;
