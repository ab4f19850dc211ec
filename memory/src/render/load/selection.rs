//! The records that a load considers: of lessons, topics and session rows not all.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::ids::{Kind, RecordId};
use crate::kinds::Standing;
use crate::limits::TOPICS_SHOWN_MAX;
use crate::memory::Memory;
use crate::record::{Body, Record};
use crate::topic::MAIN;

/// Lists the topic in view, the project's own, and those written last, each once. Topics made by
/// rule follow the others.
pub(super) fn topics(
    memory: &Memory,
    focus: Option<RecordId>,
    main: Option<RecordId>,
) -> impl Iterator<Item = &Record> {
    let in_view: BTreeSet<RecordId> = focus.into_iter().chain(main).collect();
    let mut others: Vec<&Record> = memory
        .active_of(Kind::Topic)
        .map(|record| &**record)
        .filter(|record| !in_view.contains(&record.id))
        .collect();
    others.sort_by_key(|it| (it.is_by_rule(), Reverse((it.updated.time, it.id))));
    others.truncate(TOPICS_SHOWN_MAX);
    in_view.into_iter().filter_map(|id| memory.record(id)).map(|record| &**record).chain(others)
}

/// Returns the project's own topic, if it is active. Every load shows it, whatever the session's
/// own topic is.
pub(super) fn project_topic(memory: &Memory) -> Option<RecordId> {
    let main = memory.topic(MAIN).filter(|record| record.state.is_active());
    main.map(|record| record.id)
}

/// Whether a section considers all records of its kind.
pub(super) fn is_whole(kind: Kind, sections: &[Kind]) -> bool {
    !matches!(kind, Kind::Lesson | Kind::Topic | Kind::SessionRow) || sections == [kind]
}

/// Whether a section leaves out records of its kind however much room there is.
pub(super) fn selects(memory: &Memory, kind: Kind, sections: &[Kind]) -> bool {
    let leaves_out = || memory.active_of(kind).any(|record| is_unproven(record));
    !is_whole(kind, sections) && (kind != Kind::Lesson || leaves_out())
}

/// Whether it is a rule that a person has disabled. Agents would follow its text.
pub(super) fn is_disabled(record: &Record) -> bool {
    matches!(&record.body, Body::Rule(rule) if rule.standing == Standing::Disabled)
}

/// Whether a lesson made by rule only says which files were edited before a command passed, once.
/// That is ordinary work more often than a lesson. A load counts it; it is given when the same
/// command fails with the same error.
pub(super) fn is_unproven(record: &Record) -> bool {
    let fixed = match &record.body {
        Body::Lesson(lesson) => lesson.captured.as_deref(),
        _ => None,
    };
    fixed.is_some_and(|fixed| fixed.remedy.is_none() && fixed.times < 2)
}
