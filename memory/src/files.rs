//! File paths as text: one spelling for each file, so that anchors and lessons find each other.
//!
//! Nothing here reads a disk. A path that leaves the project, or is absolute, keeps its text. For
//! such a path [`is_inside`] is false, so it must not be looked up beneath the project's root.

use crate::limits::NAMED_FILES_MAX;

/// Normalises a path: forward slashes, no `.`, no doubled or trailing slash, and `..` resolved
/// where a component precedes it.
pub fn normalise(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').map(str::trim) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Returns a normalised path relative to the absolute path `root` if it is beneath it, else
/// unchanged.
pub fn relative(path: &str, root: &str) -> String {
    let (path, root) = (normalise(path), normalise(root));
    match path.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if root.len() > 1 && !rest.is_empty() => rest.to_owned(),
        _ => path,
    }
}

/// Returns a normalised directory relative to the absolute path `root` if it is beneath it; `None`
/// for the root itself.
pub fn directory_below(directory: &str, root: &str) -> Option<String> {
    Some(relative(directory, root)).filter(|below| !below.is_empty() && *below != normalise(root))
}

/// Returns whether a normalised path is beneath the project's root, so that it may be looked up
/// there.
pub fn is_inside(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !(path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") || drive)
}

/// Returns the paths that a text seems to name, in its order and each once. A path has a slash or
/// an ending such as `.rs`. Whether there is such a file is for the caller to look up.
pub fn named_in(text: &str) -> Vec<String> {
    let outside = |c: char| {
        c.is_whitespace()
            || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';')
    };
    let mut found: Vec<String> = Vec::new();
    for word in text.split(outside) {
        // `src/retry.rs:42-67` and `src/retry.rs#L42` name the file.
        let path = word.split([':', '#']).next().unwrap_or_default();
        let path = normalise(path.trim_end_matches(['.', '!', '?']));
        let name = path.rsplit('/').next().unwrap_or_default();
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && (1..=8).contains(&ending.len())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
        });
        if (has_ending || path.contains('/')) && is_inside(&path) && !found.contains(&path) {
            found.push(path);
        }
        if found.len() >= NAMED_FILES_MAX {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests;
