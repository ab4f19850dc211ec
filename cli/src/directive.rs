//! Edits of instruction files: a marked block is added, replaced in place, or removed.
//!
//! All functions map text to text. The text around the block never changes, and removing the block
//! restores the earlier text to the byte. For that, the block ends without a line break exactly if
//! the text before it did.

/// The markers by which a block is found again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Markers {
    /// The beginning of the first line, before the version: `<!-- anchord:start`.
    pub(crate) start: &'static str,
    /// The whole last line.
    pub(crate) end: &'static str,
    /// The newest version that this build replaces.
    pub(crate) version: u32,
}

/// The reason a file's block cannot be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    /// The block begins and never ends.
    #[error("line {0} begins anchord's block, but `<!-- anchord:end -->` is missing")]
    NoEnd(usize),
    /// The block ends and never began.
    #[error("line {0} ends anchord's block, but nothing begins it")]
    NoStart(usize),
    /// There are two blocks, or one inside the other.
    #[error("line {0} begins anchord's block again")]
    Twice(usize),
    /// A later build wrote the block.
    #[error("anchord's block has version {0}, from a newer anchord")]
    Newer(u32),
}

/// An existing block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DirectiveBlock {
    /// The mode that its first line names.
    pub(crate) mode: Option<String>,
    /// The set of tools that its first line names.
    pub(crate) tools: Option<String>,
    first: usize,
    after: usize,
    newline: &'static str,
}

impl DirectiveBlock {
    /// Returns the block's own text.
    pub(crate) fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.first..self.after).unwrap_or_default()
    }
}

/// Finds the block. Markers count only if they are a whole line.
pub(crate) fn find(text: &str, markers: Markers) -> Result<Option<DirectiveBlock>, Broken> {
    let mut open: Option<(usize, usize, &str)> = None;
    let mut found = None;
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate().map(|(i, line)| (i + 1, line)) {
        let first = offset;
        offset += line.len();
        let bare = line.trim_end();
        if let Some(rest) = bare.strip_prefix(markers.start).filter(|_| bare.ends_with("-->")) {
            if open.is_some() || found.is_some() {
                return Err(Broken::Twice(number));
            }
            open = Some((number, first, rest));
        } else if bare == markers.end {
            let (_, first, words) = open.take().ok_or(Broken::NoStart(number))?;
            let newline = newline(text.get(first..).unwrap_or_default());
            found = Some((
                DirectiveBlock {
                    mode: word(words, "mode="),
                    tools: word(words, "tools="),
                    first,
                    after: offset,
                    newline,
                },
                words,
            ));
        }
    }
    if let Some((number, ..)) = open {
        return Err(Broken::NoEnd(number));
    }
    match found {
        None => Ok(None),
        Some((found, words)) => {
            let version = word(words, "v").and_then(|version| version.parse().ok()).unwrap_or(1);
            if version > markers.version { Err(Broken::Newer(version)) } else { Ok(Some(found)) }
        }
    }
}

/// Returns the text with the block in it. `text` is `None` for a file that does not exist yet.
/// `block` is the whole block with its markers; its lines end with `\n`.
pub(crate) fn placed(text: Option<&str>, found: Option<&DirectiveBlock>, block: &str) -> String {
    let block = block.trim_end_matches('\n');
    let Some(text) = text else { return format!("{block}\n") };
    if let Some(found) = found {
        let (before, rest) = text.split_at(found.first);
        let (old, after) = rest.split_at(found.after - found.first);
        let end = without_break(old).and_then(|bare| old.get(bare.len()..)).unwrap_or_default();
        return format!("{before}{}{end}{after}", block.replace('\n', found.newline));
    }
    let newline = newline(text);
    let block = block.replace('\n', newline);
    if text.is_empty() {
        block
    } else if text.ends_with('\n') {
        format!("{text}{newline}{block}{newline}")
    } else {
        format!("{text}{newline}{newline}{block}")
    }
}

/// Returns the text without the block, or `None` if the file did not exist before.
pub(crate) fn removed(text: &str, found: &DirectiveBlock) -> Option<String> {
    let (before, rest) = text.split_at(found.first);
    let (old, after) = rest.split_at(found.after - found.first);
    let ended = old.ends_with('\n');
    if before.is_empty() && after.is_empty() && ended {
        return None;
    }
    let mut before = before;
    if let Some(shorter) = without_break(before).filter(|rest| rest.ends_with('\n')) {
        before = shorter;
    }
    if !ended {
        before = without_break(before).unwrap_or(before);
    }
    Some(format!("{before}{after}"))
}

/// Returns the text with this line at its end, or `None` if one of `same` is a line already.
pub(crate) fn with_line(text: Option<&str>, line: &str, same: &[&str]) -> Option<String> {
    let Some(text) = text else { return Some(format!("{line}\n")) };
    if text.lines().any(|known| same.contains(&known.trim())) {
        return None;
    }
    let newline = newline(text);
    let line = line.replace('\n', newline);
    Some(if text.is_empty() {
        line
    } else if text.ends_with('\n') {
        format!("{text}{line}{newline}")
    } else {
        format!("{text}{newline}{line}")
    })
}

/// Removes the line (or lines) that [`with_line`] added.
pub(crate) fn without_line(text: &str, line: &str) -> Without {
    let line = line.replace('\n', newline(text));
    let at = text.match_indices(&line).map(|(at, _)| at).find(|at| {
        let (before, rest) = text.split_at(*at);
        let after = rest.get(line.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n'))
            && (after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n"))
    });
    let Some(at) = at else { return Without::NotThere };
    let (before, rest) = text.split_at(at);
    let after = rest.get(line.len()..).unwrap_or_default();
    let ended = !after.is_empty();
    let after = after.strip_prefix("\r\n").or(after.strip_prefix('\n')).unwrap_or(after);
    if before.is_empty() && after.is_empty() && ended {
        return Without::NothingLeft;
    }
    let before = if ended { before } else { without_break(before).unwrap_or(before) };
    Without::Left(format!("{before}{after}"))
}

/// The result of removing a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Without {
    /// The text does not have the line.
    NotThere,
    /// The file was created for the line.
    NothingLeft,
    /// The remaining text.
    Left(String),
}

/// Returns the line ending of a text, judged by its first line.
fn newline(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn without_break(text: &str) -> Option<&str> {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'))
}

/// Returns the rest of the first word that begins with `prefix`.
fn word(words: &str, prefix: &str) -> Option<String> {
    words.split_whitespace().find_map(|word| word.strip_prefix(prefix)).map(str::to_owned)
}

#[cfg(test)]
mod tests;
