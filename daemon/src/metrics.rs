//! The daemon's counters and latencies. They never contain a path, a name or a text.

mod hooks;
mod outlines;
mod rules;
mod teams;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram as Buckets, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

pub(crate) use hooks::HooksSeen;
pub(crate) use outlines::OutlinesSeen;
pub(crate) use teams::TeamsSeen;

use crate::limits::LATENCY_MICROS_MAX;

/// Counters since the daemon started, and the latencies of tool calls.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    connections: Counter,
    refused: Counter,
    panics: Counter,
    calls: Family<CallLabels, Counter>,
    call_times: Times,
    answers: Counter,
    truncated: Counter,
    tokens: Counter,
    retrieval_times: Times,
    retrieval_quantiles: Family<QuantileLabels, Gauge<f64, AtomicU64>>,
    commit_times: Times,
    commit_quantiles: Family<QuantileLabels, Gauge<f64, AtomicU64>>,
    append_times: Times,
    budget_used: Gauge<f64, AtomicU64>,
    sessions: Gauge,
    projects_open: Gauge,
    calls_ok: Counter,
    calls_failed: Counter,
    hooks: hooks::HookMetrics,
    rules: rules::RuleMetrics,
    outlines: outlines::OutlineMetrics,
    teams: teams::TeamMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    ok: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QuantileLabels {
    quantile: &'static str,
}

/// Latencies, in buckets for machines and in a histogram for quantiles.
#[derive(Debug)]
struct Times {
    seconds: Buckets,
    micros: Mutex<Histogram<u64>>,
}

impl Default for Times {
    fn default() -> Self {
        let micros = Histogram::new_with_max(LATENCY_MICROS_MAX, 2);
        Self {
            seconds: Buckets::new(exponential_buckets(0.000_1, 2.0, 16)),
            micros: Mutex::new(micros.expect("valid histogram bounds")),
        }
    }
}

impl Times {
    fn observe(&self, took: Duration) {
        self.seconds.observe(took.as_secs_f64());
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).min(LATENCY_MICROS_MAX);
        let mut histogram = self.micros.lock();
        histogram.saturating_record(micros);
    }

    fn latencies(&self) -> Latencies {
        let histogram = self.micros.lock();
        Latencies {
            calls: histogram.len(),
            p50_micros: histogram.value_at_quantile(0.5),
            p99_micros: histogram.value_at_quantile(0.99),
            max_micros: histogram.max(),
        }
    }
}

/// Values that other modules know better than the metrics, at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetricsSnapshot {
    /// Sessions that are open or not yet gone.
    pub(crate) sessions: usize,
    /// Open projects.
    pub(crate) projects_open: usize,
    /// The share of its budget that the fullest open project uses.
    pub(crate) budget_used: f64,
    /// Tokens in all answers.
    pub(crate) tokens: u64,
    /// The memories of teams.
    pub(crate) teams: TeamsSeen,
}

/// Latencies of tool calls inside the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Latencies {
    /// Calls measured.
    pub calls: u64,
    /// The median, in microseconds.
    pub p50_micros: u64,
    /// The 99th percentile, in microseconds.
    pub p99_micros: u64,
    /// The maximum, in microseconds.
    pub max_micros: u64,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("anchord");
        let metrics = Self {
            connections: Counter::default(),
            refused: Counter::default(),
            panics: Counter::default(),
            calls: Family::default(),
            call_times: Times::default(),
            answers: Counter::default(),
            truncated: Counter::default(),
            tokens: Counter::default(),
            retrieval_times: Times::default(),
            retrieval_quantiles: Family::default(),
            commit_times: Times::default(),
            commit_quantiles: Family::default(),
            append_times: Times::default(),
            budget_used: Gauge::default(),
            sessions: Gauge::default(),
            projects_open: Gauge::default(),
            calls_ok: Counter::default(),
            calls_failed: Counter::default(),
            hooks: hooks::HookMetrics::default(),
            rules: rules::RuleMetrics::default(),
            outlines: outlines::OutlineMetrics::default(),
            teams: teams::TeamMetrics::default(),
            registry: Registry::default(),
        };
        metrics.register(&mut registry);
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Registers each metric under its name, with its meaning.
    fn register(&self, registry: &mut Registry) {
        registry.register("connections", "Connections admitted", self.connections.clone());
        registry.register("connections_refused", "Connections refused", self.refused.clone());
        registry.register(
            "panics",
            "Panics caught in tools, hooks and periodic work",
            self.panics.clone(),
        );
        registry.register("tool_calls", "Tool calls by tool and outcome", self.calls.clone());
        registry.register("sessions", "Sessions open or not gone yet", self.sessions.clone());
        registry.register("projects_open", "Projects open", self.projects_open.clone());
        registry.register_with_unit(
            "tool_call",
            "Time from a call's turn to its answer",
            Unit::Seconds,
            self.call_times.seconds.clone(),
        );
        registry.register_with_unit(
            "retrieval",
            "Time from the turn of a call that reads to its answer",
            Unit::Seconds,
            self.retrieval_times.seconds.clone(),
        );
        registry.register_with_unit(
            "retrieval_quantile",
            "The same since the start: half, and 99 of 100, took no longer",
            Unit::Seconds,
            self.retrieval_quantiles.clone(),
        );
        registry.register_with_unit(
            "commit",
            "Time from the turn of a call that wrote to its answer, which leaves when that is on disk",
            Unit::Seconds,
            self.commit_times.seconds.clone(),
        );
        registry.register_with_unit(
            "commit_quantile",
            "The same since the start: half, and 99 of 100, took no longer",
            Unit::Seconds,
            self.commit_quantiles.clone(),
        );
        registry.register_with_unit(
            "append",
            "Of a commit's time, what the journal took, fdatasync included",
            Unit::Seconds,
            self.append_times.seconds.clone(),
        );
        registry.register("retrieval_answers", "Answers that read", self.answers.clone());
        registry.register(
            "retrieval_answers_truncated",
            "Of those, the ones that had more than they gave",
            self.truncated.clone(),
        );
        registry.register(
            "retrieval_tokens",
            "Tokens given to models: answers to agents' calls that read, and what hooks showed, each once; not to commands",
            self.tokens.clone(),
        );
        registry.register(
            "budget_utilisation",
            "Share of its notes' budget that the fullest project uses, of those opened since the start; it stays while one is closed",
            self.budget_used.clone(),
        );
        self.hooks.register(registry);
        self.rules.register(registry);
        self.outlines.register(registry);
        self.teams.register(registry);
    }

    /// Counts an answered connection.
    pub(crate) fn connected(&self, admitted: bool) {
        if admitted {
            self.connections.inc()
        } else {
            self.refused.inc()
        };
    }

    /// Counts a panic that was caught.
    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }

    /// Records a finished tool call.
    pub(crate) fn tool_called(&self, tool: &str, ok: bool, took: Duration) {
        let labels = CallLabels { tool: tool.to_owned(), ok: ok.to_string() };
        self.calls.get_or_create(&labels).inc();
        if ok { &self.calls_ok } else { &self.calls_failed }.inc();
        self.call_times.observe(took);
    }

    /// Records a finished call that reads.
    pub(crate) fn retrieved(&self, took: Duration, ok: bool, truncated: bool) {
        self.retrieval_times.observe(took);
        self.answers.inc_by(ok.into());
        self.truncated.inc_by((ok && truncated).into());
    }

    /// Records a finished call that wrote. `append` is the time it spent in the journal.
    pub(crate) fn committed(&self, took: Duration, append: Duration) {
        self.commit_times.observe(took);
        self.append_times.observe(append);
    }

    /// Returns the numbers of tool calls that succeeded and that failed.
    pub(crate) fn calls(&self) -> (u64, u64) {
        (self.calls_ok.get(), self.calls_failed.get())
    }

    /// Returns the number of connections admitted.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.get()
    }

    /// Returns a number that grows with each call and each connection.
    pub(crate) fn work(&self) -> u64 {
        self.calls_ok.get() + self.calls_failed.get() + self.connections.get()
    }

    /// Returns the number of panics caught.
    pub(crate) fn panics(&self) -> u64 {
        self.panics.get()
    }

    /// Returns the latencies since the start.
    pub(crate) fn latencies(&self) -> Latencies {
        self.call_times.latencies()
    }

    /// Returns the text that Prometheus reads.
    pub(crate) fn prometheus(&self, seen: MetricsSnapshot) -> String {
        self.sessions.set(i64::try_from(seen.sessions).unwrap_or(i64::MAX));
        self.projects_open.set(i64::try_from(seen.projects_open).unwrap_or(i64::MAX));
        self.budget_used.set(seen.budget_used);
        self.teams.show(seen.teams);
        self.tokens.inner().store(seen.tokens, Ordering::Relaxed);
        for (times, quantiles) in [
            (&self.retrieval_times, &self.retrieval_quantiles),
            (&self.commit_times, &self.commit_quantiles),
        ] {
            let times = times.latencies();
            for (quantile, micros) in [("0.5", times.p50_micros), ("0.99", times.p99_micros)] {
                let gauge = quantiles.get_or_create(&QuantileLabels { quantile });
                gauge.set(Duration::from_micros(micros).as_secs_f64());
            }
        }
        let mut text = String::new();
        if encode(&mut text, &self.registry).is_err() {
            tracing::error!("the metrics could not be written as text");
        }
        text
    }
}
