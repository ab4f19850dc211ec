//! The texts that records and staged items hold.

use crate::limits::{PURGED_LINE_BYTES_MIN, PURGED_TEXT_BYTES_MIN};
use crate::merge::paragraphs;
use crate::record::{Anchor, Blueprint, Body, Lesson, Record};
use crate::staged::Staged;
use crate::topic::{Topic, TopicDecision, TopicPart};

/// Returns all texts of a record that somebody wrote, including tags.
pub(crate) fn of_record(record: &Record) -> Vec<&str> {
    let mut texts = of_body(&record.body);
    texts.extend(record.tags.iter().map(String::as_str));
    match &record.body {
        Body::Anchor(anchor) => texts.push(&anchor.file),
        Body::Lesson(lesson) => {
            texts.extend(lesson.files.iter().map(String::as_str));
            if let Some(fixed) = &lesson.captured {
                texts.extend([fixed.command.as_str()].into_iter().chain(fixed.remedy.as_deref()));
            }
        }
        Body::Note(note) => texts.extend(note.key.as_deref()),
        Body::SessionRow(row) => {
            texts.extend(row.captured.iter().flat_map(|captured| captured.texts()));
        }
        Body::Topic(topic) => {
            texts.push(&topic.name);
            texts.extend(topic.files.iter().map(String::as_str));
        }
        Body::Blueprint(_) => {}
    }
    texts
}

/// Returns the texts that are specific to a record. File names are left out, since many records
/// have the same.
pub(crate) fn of_body(body: &Body) -> Vec<&str> {
    match body {
        Body::Blueprint(blueprint) => vec![&blueprint.title, &blueprint.content],
        Body::Anchor(anchor) => vec![&anchor.concept],
        Body::Lesson(lesson) => {
            // Commands occur in many texts; the error is specific to this lesson.
            let error = lesson.captured.as_ref().map(|fixed| fixed.error.as_str());
            [lesson.summary.as_str(), &lesson.detail].into_iter().chain(error).collect()
        }
        Body::Note(note) => vec![&note.content, &note.summary],
        Body::Topic(topic) => of_topic(topic),
        Body::SessionRow(row) => {
            let said = row.captured.iter().flat_map(|captured| captured.said_texts());
            row.summaries().chain(said).collect()
        }
    }
}

/// Returns the texts for a record's tombstones. Leaves out texts so short that the digest would
/// reveal them.
pub(crate) fn said(body: &Body) -> Vec<String> {
    let whole = match body {
        Body::Blueprint(blueprint) => of_blueprint(blueprint),
        // The file's name is visible in the project anyway.
        Body::Anchor(anchor) if is_telling(body, &anchor.concept) => of_anchor(anchor),
        Body::Anchor(_) => return Vec::new(),
        // A later part of the lesson follows the earlier ones, and would come back alone.
        Body::Lesson(lesson) => {
            let (whole, paragraphs) = (whole_lesson(lesson), paragraphs(&lesson.detail));
            let whole = Some(whole).filter(|whole| is_telling(body, whole.trim()));
            // A heading such as "## Root cause" occurs in many lessons.
            let telling = paragraphs.filter(|text| text.len() >= PURGED_LINE_BYTES_MIN);
            let fixed = lesson.captured.iter().flat_map(|fixed| [&fixed.error, &lesson.summary]);
            let whole = whole.into_iter().chain(telling.map(str::to_owned));
            return whole.chain(fixed.cloned()).collect();
        }
        Body::Note(note) => note.content.clone(),
        Body::SessionRow(row) => {
            let said = row.summaries().filter(|text| is_telling(body, text.trim()));
            return said.map(str::to_owned).collect();
        }
        // A topic never comes back as a whole, only its parts.
        Body::Topic(topic) => {
            let said = of_topic(topic).into_iter().filter(|text| is_telling(body, text));
            return said.map(str::to_owned).collect();
        }
    };
    if is_telling(body, whole.trim()) { vec![whole] } else { Vec::new() }
}

/// Returns whether a text of a record is long enough to be specific to it.
pub(crate) fn is_telling(body: &Body, text: &str) -> bool {
    let bytes_min =
        if let Body::Topic(_) = body { PURGED_LINE_BYTES_MIN } else { PURGED_TEXT_BYTES_MIN };
    text.len() >= bytes_min
}

fn of_topic(topic: &Topic) -> Vec<&str> {
    let decisions = topic.decisions.iter();
    let mut texts = vec![topic.status.as_str()];
    texts.extend(decisions.flat_map(of_decision));
    texts.extend(topic.history.iter().map(|line| line.text.as_str()));
    texts
}

fn of_decision(decision: &TopicDecision) -> impl Iterator<Item = &str> {
    std::iter::once(decision.question.as_str()).chain(decision.decided.as_deref())
}

/// Returns the texts in a write to a topic, except its name.
pub(crate) fn of_topic_part(part: &TopicPart) -> Vec<&str> {
    let mut texts: Vec<&str> = part.status.iter().map(String::as_str).collect();
    texts.extend(part.decisions.iter().flat_map(of_decision));
    texts.extend(part.history.iter().map(|line| line.text.as_str()));
    texts
}

pub(crate) fn of_blueprint(blueprint: &Blueprint) -> String {
    blueprint.content.clone()
}

pub(crate) fn of_anchor(anchor: &Anchor) -> String {
    format!("{}\n{}", anchor.file, anchor.concept)
}

/// Returns a lesson as a whole, and each paragraph of its detail.
pub(crate) fn of_lesson(lesson: &Lesson) -> Vec<String> {
    let paragraphs = paragraphs(&lesson.detail).map(str::to_owned);
    std::iter::once(whole_lesson(lesson)).chain(paragraphs).collect()
}

fn whole_lesson(lesson: &Lesson) -> String {
    format!("{}\n{}", lesson.summary, lesson.detail)
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
        texts.extend(of_topic_part(part).into_iter().chain(files).map(|text| ("", text)));
    }
    texts
}
