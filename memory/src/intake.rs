//! Checks the fields that an agent wrote, and brings them into their stored form.
//!
//! Titles, concepts and summaries are on one line. Paths have one spelling. Contents stay verbatim.

use crate::files::normalise;
use crate::fold::one_line;
use crate::limits::{LINE_CHARS_MAX, PATH_CHARS_MAX, TEXT_BYTES_MAX};
use crate::refusal::{Refusal, RefusedField};

/// Brings paths into one spelling and removes duplicates.
pub(crate) fn files(
    field: impl Into<RefusedField>,
    paths: &[String],
    files_max: usize,
) -> Result<Vec<String>, Refusal> {
    let field = field.into();
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
pub(crate) fn text(field: &'static str, text: &str) -> Result<String, Refusal> {
    fits(field, text)?;
    Ok(text.trim().to_owned())
}

/// Checks a text of one line, which may not be empty.
pub(crate) fn line(field: impl Into<RefusedField>, text: &str) -> Result<String, Refusal> {
    let field = field.into();
    let line = one_line(text);
    if line.is_empty() {
        return Err(Refusal::invalid(field, "is empty"));
    }
    chars(field, &line, LINE_CHARS_MAX)?;
    Ok(line)
}

/// Checks the path of a file.
pub(crate) fn path(field: impl Into<RefusedField>, text: &str) -> Result<String, Refusal> {
    let field = field.into();
    let path = normalise(&one_line(text));
    if path.is_empty() {
        return Err(Refusal::invalid(field, "names no file"));
    }
    chars(field, &path, PATH_CHARS_MAX)?;
    Ok(path)
}

pub(crate) fn chars(
    field: impl Into<RefusedField>,
    text: &str,
    chars_max: usize,
) -> Result<(), Refusal> {
    match text.chars().count() {
        chars if chars > chars_max => Err(Refusal::too_long(field, chars, chars_max)
            .advising("put the rest in the text below it")),
        _ => Ok(()),
    }
}

pub(crate) fn fits(field: &'static str, text: &str) -> Result<(), Refusal> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::TooLarge {
        what: field.into(),
        bytes: text.len(),
        bytes_max: TEXT_BYTES_MAX,
        advice: "keep the point and name the file that has the rest".into(),
    })
}
