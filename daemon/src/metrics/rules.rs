//! Counters of checks against rules.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Metrics;

/// Counters of checks since the daemon started.
#[derive(Debug, Default)]
pub(super) struct RuleMetrics {
    checks: Family<ResultLabels, Counter>,
    checked: Counter,
    failed: Counter,
    failed_share: Gauge<f64, AtomicU64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

impl RuleMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        let checks = self.checks.clone();
        registry.register("rule_results", "Checks of actions against rules, by result", checks);
        let checked = self.checked.clone();
        registry.register("rule_checks", "Checks of actions against rules", checked);
        let failed = self.failed.clone();
        registry.register("rule_failures", "Checks whose action did not pass", failed);
        let share = self.failed_share.clone();
        registry.register("rule_failure_ratio", "Failures per check, 0 to 1", share);
    }
}

impl Metrics {
    /// Counts a check against rules.
    pub(crate) fn rule_checked(&self, result: &'static str, passes: bool) {
        let rules = &self.rules;
        rules.checks.get_or_create(&ResultLabels { result }).inc();
        let checked = rules.checked.inc() + 1;
        let failed = if passes { rules.failed.get() } else { rules.failed.inc() + 1 };
        #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
        rules.failed_share.set(failed as f64 / checked as f64);
    }
}
