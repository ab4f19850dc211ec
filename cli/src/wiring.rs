//! The calls into the shim's, the daemon's and the domain's libraries, in one place.

use std::path::{Path, PathBuf};

use anchord_proto::instance::InstanceDir;

use crate::commands::Mode;
use crate::directive::Markers;
use crate::exit::{Error, Kind};

/// The markers of anchord's block in instruction files.
pub(crate) const MARKERS: Markers =
    Markers { start: "<!-- anchord:start", end: "<!-- anchord:end -->", version: 1 };

/// anchord's block, markers included.
pub(crate) fn block(mode: Mode) -> String {
    let name = mode.name();
    format!("<!-- anchord:start v1 mode={name} -->\n<!-- anchord:end -->\n")
}

/// The root of the project that a directory belongs to.
pub(crate) fn project_root(directory: &Path) -> Result<PathBuf, Error> {
    let marked = |name| directory.ancestors().find(|ancestor| ancestor.join(name).exists());
    Ok(marked(".anchord").or_else(|| marked(".git")).unwrap_or(directory).to_owned())
}

/// Whether a directory is in a git work tree.
pub(crate) fn in_git(directory: &Path) -> bool {
    directory.ancestors().any(|ancestor| ancestor.join(".git").exists())
}

/// Starts the instance's daemon unless one runs, and returns when it is ready.
pub(crate) fn start_daemon(dir: &InstanceDir) -> Result<(), Error> {
    Err(Error::new(Kind::NoDaemon, format!("cannot start a daemon in {}", dir.path().display())))
}
