//! Patches in Codex's format, which other clients use, too.

/// The beginnings of the lines that name a file.
const NAMES: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the files that a patch names.
pub(crate) fn patched(patch: &str) -> impl Iterator<Item = String> {
    patch.lines().filter_map(|line| {
        let line = line.trim_start();
        NAMES.iter().find_map(|begin| line.strip_prefix(begin)).map(|file| file.trim().to_owned())
    })
}
