//! Rewriting a blueprint, lesson or anchor in place, for people who correct what is stored.
//!
//! An agent supersedes a blueprint by writing it again; it does not rewrite what others settled. A
//! person who edits a record means that record, so it keeps its id, history, tags and pin.

use std::sync::Arc;

use super::{Plan, UpdateOutcome, at_version, find};
use crate::draft::{Draft, RecordFields};
use crate::ids::{Kind, RecordId, Version};
use crate::intake::WriteLimits;
use crate::kinds::note::accept_tags;
use crate::memory::Memory;
use crate::provenance::Provenance;
use crate::reader::Reader;
use crate::record::{Body, Category, Record, RecordState};
use crate::refusal::Refusal;
use crate::room::check_growth;
use crate::staged::{Staged, accept};

/// New values for a record's fields. A field that is `None` keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// New title of a blueprint.
    pub title: Option<String>,
    /// New category of a blueprint.
    pub category: Option<Category>,
    /// New content of a blueprint.
    pub content: Option<String>,
    /// New summary of a lesson.
    pub summary: Option<String>,
    /// New detail of a lesson.
    pub detail: Option<String>,
    /// New files of a lesson; an empty list removes them.
    pub files: Option<Vec<String>>,
    /// New file of an anchor.
    pub file: Option<String>,
    /// New lines of an anchor.
    pub lines: Option<String>,
    /// New concept of an anchor.
    pub concept: Option<String>,
    /// New tags of a blueprint, lesson or anchor; an empty list removes them.
    pub tags: Option<Vec<String>>,
}

impl Rewrite {
    /// Returns the first given field that `kind` does not have, and the kind that has it.
    fn misplaced(&self, kind: Kind) -> Option<(&'static str, Kind)> {
        let given = [
            ("title", Kind::Blueprint, self.title.is_some()),
            ("category", Kind::Blueprint, self.category.is_some()),
            ("content", Kind::Blueprint, self.content.is_some()),
            ("summary", Kind::Lesson, self.summary.is_some()),
            ("detail", Kind::Lesson, self.detail.is_some()),
            ("files", Kind::Lesson, self.files.is_some()),
            ("file", Kind::Anchor, self.file.is_some()),
            ("lines", Kind::Anchor, self.lines.is_some()),
            ("concept", Kind::Anchor, self.concept.is_some()),
        ];
        let misplaced = given.into_iter().find(|(_, of, given)| *given && *of != kind);
        misplaced.map(|(field, of, _)| (field, of))
    }

    /// Applies the changes to a body and returns a part to write. `None` for kinds that cannot be
    /// rewritten.
    fn applied(&self, body: &Body) -> Option<Staged> {
        let mut part = Staged::default();
        match body.clone() {
            Body::Blueprint(mut blueprint) => {
                set(&mut blueprint.title, self.title.as_ref());
                set(&mut blueprint.category, self.category.as_ref());
                set(&mut blueprint.content, self.content.as_ref());
                part.blueprints.push(blueprint);
            }
            Body::Lesson(mut lesson) => {
                set(&mut lesson.summary, self.summary.as_ref());
                set(&mut lesson.detail, self.detail.as_ref());
                set(&mut lesson.files, self.files.as_ref());
                // The advice now belongs to the person. It differs from what the rule makes, so the
                // next fix of the same failure leaves it unchanged (`fix.rs`).
                if *body != Body::Lesson(lesson.clone())
                    && let Some(fixed) = &mut lesson.captured
                {
                    fixed.remedy = None;
                }
                part.lessons.push(lesson);
            }
            Body::Anchor(mut anchor) => {
                set(&mut anchor.file, self.file.as_ref());
                set(&mut anchor.lines, self.lines.clone().map(Into::into).as_ref());
                set(&mut anchor.concept, self.concept.as_ref());
                if self.file.is_some() || self.lines.is_some() {
                    anchor.print = None;
                }
                part.anchors.push(anchor);
            }
            _ => return None,
        }
        Some(part)
    }
}

fn set<T: Clone>(field: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        field.clone_from(new);
    }
}

/// Rewrites a record.
///
/// # Errors
/// Fails if there is no such record, it is forgotten or at another version, or its kind lacks a
/// given field. Also fails if a value is invalid, too long for the remaining room or was purged, or
/// if another record already has the same key.
pub fn plan_rewrite(
    memory: &Memory,
    reader: &Reader,
    id: RecordId,
    rewrite: &Rewrite,
    expected_version: Option<Version>,
    origin: &Provenance,
) -> Result<Plan<UpdateOutcome>, Refusal> {
    let record = find(memory, reader, id)?;
    at_version(record, expected_version, origin)?;
    if record.state == RecordState::Forgotten {
        let why = "is forgotten; write it again to restore it";
        return Err(Refusal::invalid(id.to_string(), why));
    }
    if let Some((field, of)) = rewrite.misplaced(record.kind()) {
        let why = format!("applies only to {}, and {id} is not one", of.plural());
        return Err(Refusal::invalid(field, why));
    }
    let Some(part) = rewrite.applied(&record.body) else {
        let noun = record.kind().noun();
        let why = format!("is a {noun}; blueprints, lessons and anchors can be rewritten");
        return Err(Refusal::invalid(id.to_string(), why));
    };
    let part = accept(part, &WriteLimits::default()).map_err(Refusal::of_call)?;
    memory.tombstones().refuse(&part).map_err(Refusal::of_call)?;
    let items = part.clone();
    let body = body(part).unwrap_or_else(|| record.body.clone());
    if let Some(other) = same_place(memory, record, &body) {
        let why = format!("already covers what {id} would say; edit or forget that one");
        return Err(Refusal::invalid(other.to_string(), why));
    }
    let tags = match &rewrite.tags {
        Some(tags) => accept_tags(tags)?,
        None => record.tags.clone(),
    };
    let mut draft = Draft::new(memory);
    let pinned = record.pinned;
    draft.write(RecordFields { id, body, state: RecordState::Active, tags, pinned }, origin);
    check_growth(memory, draft.head(), &items)?;
    let written = draft.finish();
    let record = Arc::clone(written.head.record(id).unwrap_or(record));
    let unchanged = written.changes.is_empty();
    Ok(Plan { changes: written.changes, outcome: UpdateOutcome { record, unchanged } })
}

/// Returns the only item of a part.
fn body(part: Staged) -> Option<Body> {
    let blueprints = part.blueprints.into_iter().map(Body::Blueprint);
    let lessons = part.lessons.into_iter().map(Body::Lesson);
    let anchors = part.anchors.into_iter().map(Body::Anchor);
    blueprints.chain(lessons).chain(anchors).next()
}

/// Finds another record that a new one with this body would merge into.
fn same_place(memory: &Memory, record: &Record, body: &Body) -> Option<RecordId> {
    let key = body.key()?;
    let meets = |other: &Record| match (&other.body, body) {
        (Body::Anchor(one), Body::Anchor(other)) => one.is_same_place(other),
        (Body::Blueprint(one), Body::Blueprint(other)) => !one.may_coexist_with(other),
        _ => true,
    };
    let mut others = memory.keyed(&key).filter(|other| other.id != record.id);
    others.find(|other| meets(other)).map(|other| other.id)
}

#[cfg(test)]
mod tests;
