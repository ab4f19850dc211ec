//! Exports of the memory that a project had before it joined a team, until the team's memory has
//! them. They are files beside the store, so that a merge that was cut short can be repeated.

use std::io;
use std::path::{Path, PathBuf};

use crate::admin::text;
use crate::api::ErrorReply;
use crate::private_file;

const PREFIX: &str = "before-team-";
const SUFFIX: &str = ".json";

/// Keeps an export, if there is one, with all earlier ones that are in `aside`.
pub(super) fn keep(directory: &Path, aside: &Path, text: Option<&str>) -> io::Result<()> {
    for earlier in in_directory(aside)? {
        let name = earlier.file_name().unwrap_or_default();
        std::fs::rename(&earlier, directory.join(name))?;
    }
    let Some(text) = text else { return Ok(()) };
    let number = in_directory(directory)?.iter().filter_map(|path| number(path)).max();
    let number = number.unwrap_or_default() + 1;
    private_file::replace(&directory.join(format!("{PREFIX}{number}{SUFFIX}")), text.as_bytes())
}

/// Lists the exports in a directory, oldest first.
pub(super) fn in_directory(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        found.extend(number(&path).map(|number| (number, path)));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Adds to the failure of a merge where the memory of before is, if the team's does not have it
/// yet. This attempt may have exported it, or an earlier one.
pub(super) fn advise(error: ErrorReply, directory: &Path) -> ErrorReply {
    let found = in_directory(directory).unwrap_or_default();
    let Some(export) = found.first().map(|path| text(path)) else { return error };
    let again = format!(
        "what was here before is in {export}; the same command adds it to the team's memory"
    );
    let action = match &error.action {
        Some(first) => format!("{}; {again}", first.trim_end_matches('.')),
        None => again,
    };
    ErrorReply { action: Some(action), ..error }
}

fn number(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;

    #[test]
    fn each_failure_of_a_merge_says_that_the_same_command_adds_what_is_left() {
        let scratch = tempfile::tempdir().unwrap();
        let failed = |action: Option<&str>| {
            let (error, action) = ("the database is away".to_owned(), action.map(str::to_owned));
            let error = ErrorReply { code: ErrorCode::Failed, error, action };
            advise(error, scratch.path()).action
        };
        assert_eq!(failed(None), None, "nothing is left to add");
        keep(scratch.path(), &scratch.path().join("aside"), Some("mine")).unwrap();
        let said = failed(None).unwrap();
        assert!(said.contains("before-team-1.json; the same command adds it"), "{said}");
        let said = failed(Some("Ask a maintainer.")).unwrap();
        assert!(said.starts_with("Ask a maintainer; what was here before is in "), "{said}");
    }

    #[test]
    fn each_export_is_kept_in_order() {
        let scratch = tempfile::tempdir().unwrap();
        let (aside, directory) = (scratch.path().join("aside"), scratch.path().join("here"));
        assert_eq!(in_directory(&aside).unwrap(), Vec::<PathBuf>::new());
        std::fs::create_dir(&aside).unwrap();
        std::fs::create_dir(&directory).unwrap();
        let nothing = scratch.path().join("nothing");
        for number in 1..=10 {
            keep(&aside, &nothing, Some(&number.to_string())).unwrap();
        }
        keep(&directory, &aside, Some("11")).unwrap();
        let texts = in_directory(&directory).unwrap();
        let texts: Vec<_> =
            texts.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]);
        assert!(in_directory(&aside).unwrap().is_empty());
    }
}
