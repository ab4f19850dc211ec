//! Checks what an agent wrote, and brings it into its stored form.

use crate::files::normalise;
use crate::fold::one_line;
use crate::kinds::note::accept_note;
use crate::kinds::topic::{self, HistoryLine, TopicPart, topic_name};
use crate::limits::{
    ITEMS_MAX, LESSON_FILES_MAX, LINE_CHARS_MAX, PATH_CHARS_MAX, TEXT_BYTES_MAX, TOPIC_FILES_MAX,
    TOPIC_STATUS_CHARS_MAX,
};
use crate::lines::LineRange;
use crate::refusal::Refusal;
use crate::staged::Staged;

/// Checks a write's items and returns them in their stored form: titles, concepts and summaries on
/// one line, paths in one spelling, contents verbatim. The refusal names the item:
/// `blueprints[2].title is empty`.
pub(crate) fn accept(mut part: Staged) -> Result<Staged, Refusal> {
    for (field, items) in [
        ("blueprints", part.blueprints.len()),
        ("anchors", part.anchors.len()),
        ("lessons", part.lessons.len()),
        ("notes", part.notes.len()),
        ("topics", part.topics.len()),
    ] {
        if items > ITEMS_MAX {
            let why = format!("has {items} items, {ITEMS_MAX} are allowed; send them in parts");
            return Err(Refusal::invalid(field, why));
        }
    }
    part.summary = match part.summary {
        Some(summary) => Some(text("summary", &summary)?).filter(|summary| !summary.is_empty()),
        None => None,
    };
    for (at, blueprint) in part.blueprints.iter_mut().enumerate() {
        let field = |name: &str| format!("blueprints[{at}].{name}");
        blueprint.title = line(field("title"), &blueprint.title)?;
        if blueprint.content.trim().is_empty() {
            return Err(Refusal::invalid(field("content"), "is empty"));
        }
        fits(field("content"), &blueprint.content)?;
    }
    for (at, anchor) in part.anchors.iter_mut().enumerate() {
        let field = |name: &str| format!("anchors[{at}].{name}");
        anchor.file = path(field("file"), &anchor.file)?;
        anchor.concept = line(field("concept"), &anchor.concept)?;
        if let LineRange::Text(range) = &anchor.lines {
            let range = one_line(range);
            if range.is_empty() {
                let why = "is empty; give lines as 42-67 or 42";
                return Err(Refusal::invalid(field("lines"), why));
            }
            chars(field("lines"), &range, PATH_CHARS_MAX)?;
            anchor.lines = LineRange::from(range);
        }
    }
    for (at, lesson) in part.lessons.iter_mut().enumerate() {
        let field = |name: &str| format!("lessons[{at}].{name}");
        lesson.summary = line(field("summary"), &lesson.summary)?;
        lesson.detail = text(&field("detail"), &lesson.detail)?;
        lesson.files = files(field("files"), &lesson.files, LESSON_FILES_MAX)?;
    }
    let notes = std::mem::take(&mut part.notes).into_iter().enumerate();
    part.notes = notes
        .map(|(at, note)| accept_note(note, &format!("notes[{at}].")))
        .collect::<Result<_, Refusal>>()?;
    let topics = std::mem::take(&mut part.topics).into_iter();
    let mut topics = topics.map(accept_topic).collect::<Result<Vec<TopicPart>, Refusal>>()?;
    topics.retain(|topic| topic.name.is_some() || !topic.is_empty());
    topic::absorb(&mut part.topics, &topics);
    Ok(part)
}

/// Checks a topic. The status is also added to the history, so that one which another session
/// overwrites stays visible.
fn accept_topic(mut part: TopicPart) -> Result<TopicPart, Refusal> {
    let field = |name: &str| format!("topic.{name}");
    part.name = part.name.as_deref().map(topic_name).transpose()?;
    if let Some(status) = &part.status {
        let status = status.trim();
        let length = status.chars().count();
        if length > TOPIC_STATUS_CHARS_MAX {
            let why = format!(
                "has {length} characters, {TOPIC_STATUS_CHARS_MAX} are allowed; say where it stands, and note the rest"
            );
            return Err(Refusal::invalid(field("status"), why));
        }
        part.status = Some(status.to_owned()).filter(|status| !status.is_empty());
    }
    if let Some(line) = part.status.as_deref().map(HistoryLine::new)
        && !part.history.iter().any(|known| known.text == line.text)
    {
        part.history.push(line);
    }
    if part.decisions.len() > ITEMS_MAX || part.history.len() > ITEMS_MAX {
        let why = format!("has more than {ITEMS_MAX} decisions or lines; send them in parts");
        return Err(Refusal::invalid("topic", why));
    }
    for (at, decision) in part.decisions.iter_mut().enumerate() {
        let field = |name: &str| field(&format!("decisions[{at}].{name}"));
        decision.question = line(field("question"), &decision.question)?;
        if let Some(decided) = &decision.decided {
            let decided = one_line(decided);
            chars(field("decision"), &decided, LINE_CHARS_MAX)?;
            decision.decided = Some(decided).filter(|decided| !decided.is_empty());
        }
    }
    for told in &mut part.history {
        told.text = HistoryLine::new(&told.text).text;
    }
    part.history.retain(|told| !told.text.is_empty());
    part.files = files(field("files"), &part.files, TOPIC_FILES_MAX)?;
    Ok(part)
}

/// Brings paths into one spelling and removes duplicates.
fn files(field: String, paths: &[String], files_max: usize) -> Result<Vec<String>, Refusal> {
    if paths.len() > files_max {
        return Err(Refusal::invalid(field, format!("has more than {files_max} paths")));
    }
    let mut files = Vec::with_capacity(paths.len());
    for file in paths.iter().filter(|file| !file.trim().is_empty()) {
        let file = path(field.clone(), file)?;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Ok(files)
}

/// Checks a text that may have many lines and may be empty.
pub(crate) fn text(field: &str, text: &str) -> Result<String, Refusal> {
    fits(field.to_owned(), text)?;
    Ok(text.trim().to_owned())
}

fn line(field: String, text: &str) -> Result<String, Refusal> {
    let line = one_line(text);
    if line.is_empty() {
        return Err(Refusal::invalid(field, "is empty"));
    }
    chars(field, &line, LINE_CHARS_MAX)?;
    Ok(line)
}

fn path(field: String, text: &str) -> Result<String, Refusal> {
    let path = normalise(&one_line(text));
    if path.is_empty() {
        return Err(Refusal::invalid(field, "names no file"));
    }
    chars(field, &path, PATH_CHARS_MAX)?;
    Ok(path)
}

fn chars(field: String, text: &str, chars_max: usize) -> Result<(), Refusal> {
    match text.chars().count() {
        chars if chars > chars_max => Err(Refusal::invalid(
            field,
            format!(
                "has {chars} characters, {chars_max} are allowed; put the rest in the text below it"
            ),
        )),
        _ => Ok(()),
    }
}

fn fits(field: String, text: &str) -> Result<(), Refusal> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::TooLarge {
        what: field,
        bytes: text.len(),
        bytes_max: TEXT_BYTES_MAX,
        advice: "keep the point and name the file that has the rest",
    })
}
