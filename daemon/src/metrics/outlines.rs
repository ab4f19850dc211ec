//! Counters of outlines: how many were given, and the tokens that they took and saved.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use super::Metrics;

/// Counters of outlines since the daemon started.
#[derive(Debug, Default)]
pub(super) struct OutlineMetrics {
    given: Counter,
    cached: Counter,
    failed: Counter,
    offered: Counter,
    tokens_given: Counter,
    tokens_saved: Counter,
}

/// Outlines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutlinesSeen {
    /// Outlines of files that were given.
    pub(crate) given: u64,
    /// Those of them that were made before.
    pub(crate) cached: u64,
    /// Files that could not be parsed in their language.
    pub(crate) failed: u64,
    /// Files of which hooks offered the outline.
    pub(crate) offered: u64,
    /// Tokens of the outlines that were given.
    pub(crate) tokens_given: u64,
    /// Tokens that their files have more than these.
    pub(crate) tokens_saved: u64,
}

impl OutlineMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        for (name, help, counter) in [
            ("outlines", "Outlines of files given", &self.given),
            ("outlines_cached", "Of those, the ones that were made before", &self.cached),
            ("outlines_failed", "Files that were not parsed in their language", &self.failed),
            ("outlines_offered", "Files of which hooks offered the outline", &self.offered),
            ("outline_tokens_given", "Tokens of outlines given", &self.tokens_given),
            (
                "outline_tokens_saved",
                "Tokens that the files have more than their outlines",
                &self.tokens_saved,
            ),
        ] {
            registry.register(name, help, counter.clone());
        }
    }
}

impl Metrics {
    /// Counts an outline that was given.
    pub(crate) fn outline_given(&self, is_cached: bool, tokens: u32, saved: u32) {
        let outlines = &self.outlines;
        outlines.given.inc();
        outlines.cached.inc_by(is_cached.into());
        outlines.tokens_given.inc_by(tokens.into());
        outlines.tokens_saved.inc_by(saved.into());
    }

    /// Counts a file that could not be parsed.
    pub(crate) fn outline_failed(&self) {
        self.outlines.failed.inc();
    }

    /// Counts a file of which a hook offered the outline.
    pub(crate) fn outline_offered(&self) {
        self.outlines.offered.inc();
    }

    /// Returns the outlines since the start.
    pub(crate) fn outlines(&self) -> OutlinesSeen {
        let outlines = &self.outlines;
        OutlinesSeen {
            given: outlines.given.get(),
            cached: outlines.cached.get(),
            failed: outlines.failed.get(),
            offered: outlines.offered.get(),
            tokens_given: outlines.tokens_given.get(),
            tokens_saved: outlines.tokens_saved.get(),
        }
    }
}
