//! Checks the files of rules of the projects in use. With a broken one, every action asks a person.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anchord_daemon::api::StatusReply;
use anchord_memory::rules::parse_rules_file;

use super::Finding;
use crate::commands::rules::FILE;
use crate::show;

const ABOUT: &str = "rules";

/// Checks the file of the working directory's project, `here`, and those of live sessions.
pub(super) fn findings(here: Option<&Path>, status: Option<&StatusReply>) -> Vec<Finding> {
    let sessions = status.into_iter().flat_map(|status| &status.sessions);
    let roots = sessions.filter_map(|session| Some(PathBuf::from(&session.project.as_ref()?.root)));
    let roots: BTreeSet<PathBuf> = roots.chain(here.map(Path::to_owned)).collect();
    roots.iter().filter_map(|root| broken(root)).collect()
}

/// Reports the first fault of a project's file.
fn broken(root: &Path) -> Option<Finding> {
    let path = root.join(FILE);
    let (what, more) = match fs::read_to_string(&path) {
        Ok(text) => match parse_rules_file(&text) {
            Ok(_) => return None,
            Err(faults) => {
                let first = faults.first().map(ToString::to_string).unwrap_or_default();
                (format!("{}: {first}", path.display()), faults.len().saturating_sub(1))
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => (format!("cannot read {}: {error}", path.display()), 0),
    };
    let more = if more == 0 {
        String::new()
    } else {
        let mistakes = show::count(more as u64, "more mistake");
        format!(" `anchord rules lint` shows {mistakes}.")
    };
    let action = format!("Mend the file. Until then every action of an agent asks a person.{more}");
    Some(Finding::problem(ABOUT, what, action))
}

#[cfg(test)]
mod tests;
