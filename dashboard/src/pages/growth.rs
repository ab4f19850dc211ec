//! The view `growth`: tokens against the budget, compactions, how often something was found or cut,
//! and how long answers took.

use std::collections::BTreeMap;

use anchord_daemon::api::{
    self, COMMAND_LINE, GrowthReply, HookMoment, LogQuery, LogReply, ProjectQuery, RULE_CHECK,
    Retrieval,
};
use anchord_memory::Timestamp;
use maud::{Markup, PreEscaped, html};

use super::{Scene, parts};
use crate::charts::{Chart, Series, class};
use crate::daemon::Failure;

const DAY_MS: i64 = 86_400_000;
/// Lines of the retrieval log that are read.
const LINES: u32 = 10_000;
/// Days that are shown.
const DAYS: usize = 30;

/// The answers of one day.
#[derive(Debug, Default)]
struct Day {
    tokens: u64,
    answers: u64,
    /// The sizes of loads, in tokens.
    loads: Vec<u32>,
    searches: u64,
    found: u64,
    cut: u64,
    micros: Vec<u64>,
}

pub(super) async fn view(scene: &Scene<'_>) -> Result<Markup, Failure> {
    if scene.project.is_empty() {
        return Ok(
            html! { p { "Nothing is remembered yet. `anchord setup` connects your agents." } },
        );
    }
    let project = scene.project.clone();
    let growth: GrowthReply = scene.app.daemon.get(api::GROWTH, ProjectQuery { project }).await?;
    let query = LogQuery { project: scene.project.clone(), after: None, limit: LINES, wait: false };
    let LogReply { lines, fault } = scene.app.daemon.get(api::LOG, query).await?;
    let days = by_day(&lines, scene.now);
    Ok(html! {
        p.lead {
            (parts::count(growth.active, "active record")) ", " (parts::grouped(growth.archived)) " archived. Notes take "
            (parts::grouped(growth.note_tokens)) " of " (parts::grouped(growth.note_budget.into())) " tokens."
        }
        p { meter min="0" max=(growth.note_budget.max(1)) value=(growth.note_tokens.min(growth.note_budget.into())) {} }
        @if let Some(fault) = fault { p.warning { "Answers may be missing: " (fault) } }
        div.charts {
            (figure("Tokens given to agents on each day", &tokens(&days)))
            (figure("Tokens of a load, on average", &loads(&days, growth.load_tokens)))
            (figure("Records that are still remembered, by the day they were created", &created(&growth)))
            (figure("Searches that found something, and answers that were cut, in percent", &rates(&days)))
            (figure("Time of an answer in milliseconds", &times(&days)))
        }
        (compactions(scene, &growth))
    })
}

/// Sorts answers to agents into days, without gaps, up to today.
fn by_day(lines: &[Retrieval], now: i64) -> BTreeMap<i64, Day> {
    let today = now.div_euclid(DAY_MS);
    let first = today - i64::try_from(DAYS).unwrap_or_default() + 1;
    let mut days: BTreeMap<i64, Day> = BTreeMap::new();
    for line in lines {
        let day = line.time.div_euclid(DAY_MS);
        // No model reads the answers to commands.
        if line.client == COMMAND_LINE || line.tool == RULE_CHECK || day < first {
            continue;
        }
        let day = days.entry(day).or_default();
        day.tokens += u64::from(line.tokens);
        day.answers += 1;
        day.cut += u64::from(line.truncated);
        day.micros.push(line.micros);
        match line.tool.as_str() {
            "memory_search" => {
                day.searches += 1;
                day.found += u64::from(!line.ids.is_empty());
            }
            "memory_load" => day.loads.push(line.tokens),
            tool => {
                let moment = HookMoment::named(tool);
                if matches!(moment, Some(HookMoment::Start | HookMoment::Restored)) {
                    day.loads.push(line.tokens);
                }
            }
        }
    }
    if let Some(oldest) = days.keys().next().copied() {
        (oldest..=today).for_each(|day| {
            days.entry(day).or_default();
        });
    }
    days
}

/// A value of a day, if it has one.
type Of = fn(&Day) -> Option<f64>;

fn chart<const N: usize>(days: &BTreeMap<i64, Day>, series: [(&'static str, Of); N]) -> Chart {
    Chart {
        days: days.keys().map(|day| name(day * DAY_MS)).collect(),
        series: series
            .map(|(name, of)| Series { name, values: days.values().map(of).collect() })
            .into(),
        ..Chart::default()
    }
}

fn tokens(days: &BTreeMap<i64, Day>) -> Chart {
    chart(days, [("tokens", |day| Some(float(day.tokens)))])
}

fn loads(days: &BTreeMap<i64, Day>, budget: u32) -> Chart {
    let mean = |day: &Day| {
        let sum: u64 = day.loads.iter().map(|tokens| u64::from(*tokens)).sum();
        ratio(sum, day.loads.len() as u64)
    };
    Chart { limit: Some(("budget", budget.into())), ..chart(days, [("load", mean)]) }
}

fn rates(days: &BTreeMap<i64, Day>) -> Chart {
    let found = |day: &Day| ratio(day.found * 100, day.searches);
    let cut = |day: &Day| ratio(day.cut * 100, day.answers);
    Chart { top: Some(105.0), ..chart(days, [("found", found), ("cut", cut)]) }
}

fn times(days: &BTreeMap<i64, Day>) -> Chart {
    chart(
        days,
        [("p50", |day| quantile(&day.micros, 50)), ("p99", |day| quantile(&day.micros, 99))],
    )
}

fn created(growth: &GrowthReply) -> Chart {
    let last = growth.days.iter().rev().take(DAYS).rev();
    let values = last.clone().map(|day| Some(float(day.created))).collect();
    Chart {
        days: last.map(|day| name(day.day)).collect(),
        series: vec![Series { name: "records", values }],
        ..Chart::default()
    }
}

/// Returns a quantile in milliseconds.
fn quantile(micros: &[u64], percent: usize) -> Option<f64> {
    let mut sorted = micros.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).map(|micros| float(*micros) / 1_000.0)
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| float(part) / float(whole))
}

fn float(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}

/// Returns the month and the day.
fn name(day: i64) -> String {
    Timestamp(day).date().get(5..).unwrap_or_default().to_owned()
}

/// Renders a chart with its legend, and its values as a table.
fn figure(title: &str, chart: &Chart) -> Markup {
    html! {
        figure {
            figcaption {
                (title)
                @for (at, series) in chart.series.iter().enumerate() {
                    " " span class=(class(at)) { "● " (series.name) }
                }
                @if let Some((name, limit)) = chart.limit { " " span.faint { "— " (name) " " (limit) } }
            }
            @match chart.svg() {
                Some(svg) => div.chart role="img" aria-label=(title) { (PreEscaped(svg)) },
                None => p.faint { "Nothing to show yet." },
            }
            @if !chart.days.is_empty() { (table(chart)) }
        }
    }
}

fn table(chart: &Chart) -> Markup {
    html! {
        details { summary { "As a table" }
            table {
                thead { tr { th { "day" } @for series in &chart.series { th { (series.name) } } } }
                tbody {
                    @for (at, day) in chart.days.iter().enumerate().rev() {
                        tr { td { (day) } @for series in &chart.series {
                            td { @match series.values.get(at).copied().flatten() {
                                Some(value) => (format!("{value:.1}")), None => "–",
                            } }
                        } }
                    }
                }
            }
        }
    }
}

fn compactions(scene: &Scene<'_>, growth: &GrowthReply) -> Markup {
    html! {
        h2 { "What compaction took" }
        @if growth.compactions.is_empty() {
            p { "No compaction was needed yet." }
        } @else {
            table {
                thead { tr { th { "when" } th { "revision" } th { "archived" } th { "shortened" } th { "folded" } } }
                tbody { @for run in growth.compactions.iter().take(DAYS) { tr {
                    td { (parts::ago(scene, run.time)) } td { (run.revision) } td { (run.archived) }
                    td { (run.changed) } td { (run.forgotten) }
                } } }
            }
            @if growth.more { p.faint { "Older ones are in `anchord history`." } }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Days, rates and quantiles.

    use super::*;

    fn line(tool: &str, day: i64, tokens: u32, ids: usize) -> Retrieval {
        let ids = vec!["n1".to_owned(); ids];
        let (time, micros) = (day * DAY_MS + 5, u64::from(tokens));
        Retrieval { tool: tool.to_owned(), time, tokens, ids, micros, ..Retrieval::default() }
    }

    #[test]
    fn answers_to_agents_are_summed_by_day_without_gaps() {
        let of_command =
            Retrieval { client: COMMAND_LINE.to_owned(), ..line("memory_load", 100, 9, 1) };
        let lines = [
            of_command,
            line("memory_search", 98, 10, 0),
            line("memory_search", 98, 30, 2),
            line("hook start", 100, 2_000, 5),
            line(RULE_CHECK, 100, 7, 0),
            line("memory_load", 20, 5, 0),
        ];
        let days = by_day(&lines, 100 * DAY_MS + 9);
        assert_eq!(days.keys().copied().collect::<Vec<_>>(), [98, 99, 100]);
        assert_eq!(days.values().map(|day| day.tokens).collect::<Vec<_>>(), [40, 0, 2_000]);
        let values =
            |chart: Chart| chart.series.into_iter().map(|it| it.values).collect::<Vec<_>>();
        assert_eq!(values(rates(&days))[0], [Some(50.0), None, None]);
        assert_eq!(values(loads(&days, 2_500)), [[None, None, Some(2_000.0)]]);
        assert_eq!(values(times(&days))[1], [Some(0.03), None, Some(2.0)]);
    }

    #[test]
    fn a_quantile_is_a_value_of_the_list() {
        let micros: Vec<u64> = (1..=100).map(|at| at * 1_000).collect();
        assert_eq!((quantile(&micros, 50), quantile(&micros, 99)), (Some(50.0), Some(99.0)));
        assert_eq!(quantile(&[], 50), None);
    }
}
