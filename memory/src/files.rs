//! File paths as text: one spelling for each file, so that anchors and lessons find each other.
//!
//! Nothing here touches a disk. A path that climbs out of the project, or is absolute, stays the text
//! it was, and [`is_inside`] says that it must not be looked up beneath the project's root.

/// Forward slashes, no `.`, no doubled or trailing slash, `..` resolved where something stands before it.
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

/// A normalised path relative to `root`, an absolute path, when it stands beneath it; else as it is.
pub fn relative(path: &str, root: &str) -> String {
    let (path, root) = (normalise(path), normalise(root));
    match path.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if root.len() > 1 && !rest.is_empty() => rest.to_owned(),
        _ => path,
    }
}

/// Whether a normalised path stands beneath the project's root, so that it may be looked up there.
pub fn is_inside(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !(path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") || drive)
}

#[cfg(test)]
mod tests;
