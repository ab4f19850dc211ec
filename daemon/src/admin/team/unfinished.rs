//! Names of projects whose creation has not ended. If it never does, the wanted name is still free.

use uuid::Uuid;

use crate::limits::TEAM_UNFINISHED_CHARS_MAX;

const BEGIN: &str = " (unfinished ";
const END: &str = ")";

/// Returns a name that no other creation has.
pub(super) fn named(wanted: &str) -> String {
    let begin: String = wanted.chars().take(TEAM_UNFINISHED_CHARS_MAX).collect();
    format!("{begin}{BEGIN}{}{END}", Uuid::new_v4())
}

/// Returns whether a project has the name of one whose creation has not ended.
pub(super) fn is(name: &str) -> bool {
    let id = name.rsplit_once(BEGIN).and_then(|(_, end)| end.strip_suffix(END));
    id.is_some_and(|id| Uuid::parse_str(id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_unfinished_project_is_known_and_short_enough() {
        let (long, own) = ("ü".repeat(100), named("api"));
        for wanted in ["api", long.as_str(), own.as_str()] {
            let name = named(wanted);
            assert!(is(&name) && name.len() <= 200, "{name}");
            assert_ne!(named(wanted), name);
        }
        for name in ["api", "api (unfinished)", "api (unfinished work)"] {
            assert!(!is(name), "{name}");
        }
    }
}
