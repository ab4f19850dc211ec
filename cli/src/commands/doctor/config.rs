//! Checks the configuration file. A daemon runs without one that it cannot use.

use std::path::Path;

use anchord_daemon::api::StatusReply;
use anchord_daemon::config::Config;
use anchord_proto::instance::{InstanceDir, InstanceFile};

use super::Finding;

const ABOUT: &str = "config";

/// Checks the file itself. Without an instance there is none.
pub(super) fn findings(dir: &InstanceDir) -> Vec<Finding> {
    let Ok(Some(file)) = InstanceFile::read(dir) else {
        // The checks of the data report an instance that cannot be read.
        return Vec::new();
    };
    let unusable = Config::load(&file.config, None).err();
    let finding = |error| {
        let what = format!("cannot {error}");
        let action = "Until it is corrected the defaults apply. Then run `anchord restart`.";
        Finding::problem(ABOUT, what, action)
    };
    unusable.map(finding).into_iter().collect()
}

/// Reports what the running daemon ignores, unless the file still has it.
pub(super) fn in_use(status: &StatusReply, found: &mut Vec<Finding>) {
    let now = Config::load(Path::new(&status.instance.config), None).err();
    let now = now.map(|error| error.to_string());
    for why in status.config_ignored.iter().filter(|why| now.as_ref() != Some(why)) {
        let what = format!("when the daemon started, it could not {why}");
        let action = "The defaults apply. Run `anchord restart` once it is corrected.";
        found.push(Finding::problem(ABOUT, what, action));
    }
}
