//! File paths as text: one spelling for each file, so that anchors and lessons find each other.
//!
//! Nothing here reads a disk. A path that leaves the project, or is absolute, keeps its text. For
//! such a path [`is_inside`] is false, so it must not be looked up beneath the project's root.

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

/// Returns whether a normalised path is beneath the project's root, so that it may be looked up
/// there.
pub fn is_inside(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !(path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") || drive)
}

#[cfg(test)]
mod tests;
