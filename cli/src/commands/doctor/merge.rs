//! Checks the model providers that `config.toml` names: whether their keys can be read. None is
//! called.

use std::path::Path;

use anchord_daemon::api::StatusReply;
use anchord_daemon::config::{Config, KeySource};

use super::{Finding, Fix};

const ABOUT: &str = "merge";

/// Checks the providers of a running daemon. Without any there is nothing to report.
pub(super) fn findings(status: &StatusReply, found: &mut Vec<Finding>) {
    // The daemon read the same file when it started; what is wrong in it is reported there.
    let Ok(config) = Config::load(Path::new(&status.instance.config), None) else { return };
    for provider in &config.merge.providers {
        found.push(match anchord_merge::key::read(&provider.key) {
            Ok(_) => {
                let called =
                    format!("{} calls {} of {}", provider.name, provider.model, provider.url);
                Finding::good(ABOUT, called)
            }
            Err(error) => {
                let what = format!("{} cannot be called: {error}", provider.name);
                let exposed = matches!(error, anchord_merge::KeyError::Exposed { .. });
                let action = if exposed {
                    "`anchord doctor --fix` makes the file readable by you alone."
                } else {
                    "Correct it in [merge] of config.toml. Until then its texts are only appended."
                };
                let finding = Finding::problem(ABOUT, what, action);
                match &provider.key {
                    KeySource::File(file) if exposed => finding.fix(Fix::Mode(file.clone(), 0o600)),
                    _ => finding,
                }
            }
        });
    }
    if !config.merge.providers.is_empty() && config.merge.calls_per_day == 0 {
        let what = "calls_per_day is 0, so no provider is called";
        found.push(Finding::note(ABOUT, what));
    }
}
