//! Checks the fields that an agent wrote, and brings them into their stored form.
//!
//! Titles, concepts and summaries are on one line. Paths have one spelling. Contents stay verbatim.

use crate::files::normalise;
use crate::fold::one_line;
use crate::limits::{
    ITEMS_MAX, LESSON_FILES_MAX, LINE_CHARS_MAX, PATH_CHARS_MAX, TEXT_BYTES_MAX, WIDE_FILES_MAX,
    WIDE_ITEMS_MAX, WIDE_LINE_CHARS_MAX, WIDE_TEXT_BYTES_MAX,
};
use crate::refusal::{Refusal, RefusedField};

/// Advice for a line with a longer text below it.
pub(crate) const BELOW: &str = "put the rest in the text below it";
/// Advice for a line that stands alone.
pub(crate) const BRIEFLY: &str = "say it briefly, and note the rest";

/// The limits of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteLimits {
    /// Items of one kind.
    pub items_max: usize,
    /// Characters of a blueprint's title, a lesson's summary or an anchor's concept.
    pub line_chars_max: usize,
    /// Bytes of a blueprint's content, a lesson's detail or a session's summary.
    pub text_bytes_max: usize,
    /// Files of a lesson.
    pub files_max: usize,
    /// Whether a blueprint's content may be empty, and a checkpoint as a whole.
    pub allows_empty: bool,
}

impl Default for WriteLimits {
    /// Returns the limits of anchord's own tools.
    fn default() -> Self {
        Self {
            items_max: ITEMS_MAX,
            line_chars_max: LINE_CHARS_MAX,
            text_bytes_max: TEXT_BYTES_MAX,
            files_max: LESSON_FILES_MAX,
            allows_empty: false,
        }
    }
}

impl WriteLimits {
    /// The limits for users of zipmem, which has none, and for what is imported. A call's own limit
    /// is smaller.
    pub const WIDE: Self = Self {
        items_max: WIDE_ITEMS_MAX,
        line_chars_max: WIDE_LINE_CHARS_MAX,
        text_bytes_max: WIDE_TEXT_BYTES_MAX,
        files_max: WIDE_FILES_MAX,
        allows_empty: true,
    };

    /// Checks a text that may have many lines and may be empty.
    pub(crate) fn text(&self, field: &'static str, text: &str) -> Result<String, Refusal> {
        self.fits(field, text)?;
        Ok(text.trim().to_owned())
    }

    /// Checks a text of one line, which may not be empty. `advice` says what to do if it is too
    /// long.
    pub(crate) fn line(
        &self,
        field: impl Into<RefusedField>,
        text: &str,
        advice: &'static str,
    ) -> Result<String, Refusal> {
        let field = field.into();
        let line = one_line(text);
        if line.is_empty() {
            return Err(Refusal::invalid(field, "is empty"));
        }
        chars(field, &line, self.line_chars_max).map_err(|refusal| refusal.advising(advice))?;
        Ok(line)
    }

    /// Checks the length of a text.
    pub(crate) fn fits(&self, field: &'static str, text: &str) -> Result<(), Refusal> {
        if text.len() <= self.text_bytes_max {
            return Ok(());
        }
        Err(Refusal::TooLarge {
            what: field.into(),
            bytes: text.len(),
            bytes_max: self.text_bytes_max,
            advice: "keep the point and name the file that has the rest".into(),
        })
    }
}

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

/// Checks a text of one line by the limits of anchord's own tools.
pub(crate) fn line(field: impl Into<RefusedField>, text: &str) -> Result<String, Refusal> {
    WriteLimits::default().line(field, text, BRIEFLY)
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

/// Checks the number of characters of a text.
pub(crate) fn chars(
    field: impl Into<RefusedField>,
    text: &str,
    chars_max: usize,
) -> Result<(), Refusal> {
    match text.chars().count() {
        chars if chars > chars_max => Err(Refusal::too_long(field, chars, chars_max)),
        _ => Ok(()),
    }
}
