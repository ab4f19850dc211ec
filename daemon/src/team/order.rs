//! The team that this machine is to join, as its environment says. In a container nobody runs
//! `anchord team join`.

use std::path::{Path, PathBuf};

use anchord_team::Secret;

use crate::api::TeamPlace;

/// The database of the team, without a password.
pub(crate) const URL_VARIABLE: &str = "ANCHORD_TEAM_URL";

/// The project's name in the database. The name of a directory in a container says little.
pub(crate) const PROJECT_VARIABLE: &str = "ANCHORD_TEAM_PROJECT";

/// The file with the password, if the server asks for one.
pub(crate) const PASSWORD_FILE_VARIABLE: &str = "ANCHORD_TEAM_PASSWORD_FILE";

/// Whether to create the project in the database if it is not there: `1`.
pub(crate) const CREATE_VARIABLE: &str = "ANCHORD_TEAM_CREATE";

/// The project on this machine: a directory or an id. By default the working directory.
pub(crate) const DIRECTORY_VARIABLE: &str = "ANCHORD_PROJECT";

/// The team to join.
#[derive(Clone, Debug)]
pub(crate) struct TeamOrder {
    /// The project on this machine.
    pub(crate) project: String,
    /// The project in the database.
    pub(crate) place: TeamPlace,
    /// Whether to create it there if it does not exist.
    pub(crate) create: bool,
}

impl TeamOrder {
    /// Reads the order from variables; `here` is the working directory. An empty variable counts as
    /// unset.
    ///
    /// # Errors
    /// Fails if a variable is missing, or has a value that cannot be used.
    pub(crate) fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
        here: &Path,
    ) -> Result<Option<Self>, String> {
        let value = |name| variable(name).filter(|value| !value.is_empty());
        let Some(url) = value(URL_VARIABLE) else {
            let alone = [PROJECT_VARIABLE, PASSWORD_FILE_VARIABLE, CREATE_VARIABLE];
            return match alone.into_iter().find(|name| value(name).is_some()) {
                Some(name) => Err(format!("{name} is set, but {URL_VARIABLE} is not")),
                None => Ok(None),
            };
        };
        let name = value(PROJECT_VARIABLE);
        let name = name.ok_or(format!("{URL_VARIABLE} is set, but {PROJECT_VARIABLE} is not"))?;
        let secret = match value(PASSWORD_FILE_VARIABLE).map(PathBuf::from) {
            None => Secret::None,
            Some(file) if file.is_absolute() => Secret::File(file),
            Some(_) => return Err(format!("{PASSWORD_FILE_VARIABLE} is not an absolute path")),
        };
        let create = match value(CREATE_VARIABLE).as_deref() {
            None => false,
            Some("1") => true,
            Some(_) => return Err(format!("{CREATE_VARIABLE} is neither 1 nor unset")),
        };
        let project = value(DIRECTORY_VARIABLE);
        let project = project.unwrap_or_else(|| here.to_string_lossy().into_owned());
        Ok(Some(Self { project, place: TeamPlace { url, name: Some(name), secret }, create }))
    }
}

#[cfg(test)]
mod tests;
