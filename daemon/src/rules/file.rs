//! The rules that a team keeps in a file of the project, and the branch that is checked out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchord_memory::render::FileRulesView;
use anchord_memory::rules::{Rule, parse_rules_file};
use parking_lot::Mutex;

use crate::limits::{RULES_FILE_BYTES_MAX, RULES_FILES_CACHED_MAX};
use crate::projects::{FileDigest, Located, MirrorError, ProjectFiles, branch};

/// The file, relative to the project's root.
pub(crate) const FILE: &str = ".anchord/rules.toml";

/// The rules of a project's file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileRules {
    pub(crate) rules: Arc<Vec<Rule>>,
    /// The reason why the file's rules are unknown, without the file's name.
    pub(crate) error: Option<String>,
    /// The branch that is checked out.
    pub(crate) branch: Option<String>,
}

impl FileRules {
    pub(crate) fn unreadable(error: String) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Returns the part that is shown.
    pub(crate) fn view(&self) -> FileRulesView<'_> {
        FileRulesView { rules: &self.rules, error: self.error.as_deref() }
    }
}

/// The file's text, and the branch.
pub(super) struct Looked {
    text: Result<Option<Vec<u8>>, String>,
    branch: Result<Option<String>, String>,
}

/// Reads the file and the branch.
pub(super) fn look(located: &Located) -> Looked {
    let files = ProjectFiles::open(&located.root).map_err(|error| error.to_string());
    let read = files.and_then(|files| {
        let read = files.read_whole(Path::new(FILE), RULES_FILE_BYTES_MAX);
        read.map_err(|error| fault(&error))
    });
    let named = located.git.as_ref().map(branch).transpose();
    let named = named.map_err(|error| format!("failed to read git's HEAD: {error}"));
    Looked {
        text: read.map(|read| read.map(|read| read.bytes)),
        branch: named.map(Option::flatten),
    }
}

/// Words why the file was not read. A path that a reader sees beside it is not repeated.
fn fault(error: &MirrorError) -> String {
    match error {
        MirrorError::TooLarge { max, unit, .. } => format!("it has more than {max} {unit}"),
        MirrorError::Io { path, source, .. } if path == FILE => source.to_string(),
        MirrorError::NotPlain(_) | MirrorError::Changed(_) | MirrorError::Io { .. } => {
            format!("failed to {error}")
        }
    }
}

/// Parsed files, by the root of their project.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<BTreeMap<PathBuf, Parsed>>);

#[derive(Clone, Debug)]
struct Parsed {
    digest: FileDigest,
    rules: Result<Arc<Vec<Rule>>, String>,
}

impl Cache {
    /// Returns the rules of a file that was parsed before; `None` if it was not.
    pub(super) fn known(&self, root: &Path) -> Option<FileRules> {
        let known = self.0.lock().get(root).map(|parsed| parsed.rules.clone())?;
        Some(match known {
            Ok(rules) => FileRules { rules, ..FileRules::default() },
            Err(error) => FileRules::unreadable(error),
        })
    }

    /// Returns the rules of a file. A file that was parsed before is not parsed again.
    pub(super) fn parsed(&self, root: &Path, looked: Looked) -> FileRules {
        let (branch, branch_error) = match looked.branch {
            Ok(branch) => (branch, None),
            Err(error) => (None, Some(error)),
        };
        let bytes = match looked.text {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return FileRules { branch, ..FileRules::default() },
            Err(error) => return FileRules { branch, ..FileRules::unreadable(error) },
        };
        let digest = FileDigest::of(&bytes);
        let mut cached = self.0.lock();
        let known = cached.get(root).filter(|parsed| parsed.digest == digest).cloned();
        let parsed = known.unwrap_or_else(|| {
            let parsed = Parsed { digest, rules: parse(&bytes) };
            if cached.len() >= RULES_FILES_CACHED_MAX {
                cached.clear();
            }
            cached.insert(root.to_owned(), parsed.clone());
            parsed
        });
        drop(cached);
        let asks_branch =
            |rules: &Arc<Vec<Rule>>| rules.iter().any(|rule| !rule.matches.branches.is_empty());
        match parsed.rules {
            Ok(rules) => {
                let error = branch_error.filter(|_| asks_branch(&rules));
                FileRules { rules, error, branch }
            }
            Err(error) => FileRules { error: Some(error), branch, ..FileRules::default() },
        }
    }
}

/// The beginning of the ids of a file's rules, which says where they are from.
const PREFIX: &str = "file:";

/// Returns whether a rule is from a project's file. Those of memory have a record's id.
pub(super) fn is_of_file(rule: &Rule) -> bool {
    rule.id.starts_with(PREFIX)
}

fn parse(bytes: &[u8]) -> Result<Arc<Vec<Rule>>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let parsed = parse_rules_file(text).map_err(|errors| {
        let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
        errors.join("; ")
    })?;
    let named = parsed.into_iter().map(|rule| Rule { id: format!("{PREFIX}{}", rule.id), ..rule });
    Ok(Arc::new(named.collect()))
}
