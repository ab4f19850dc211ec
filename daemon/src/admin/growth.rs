//! The growth of a memory.

use std::collections::BTreeMap;

use anchord_memory::{Kind, Memory, Reader, RecordState};

use super::{Answer, ask, store_error, write_error};
use crate::api::{CompactionRun, GrowthDay, GrowthReply};
use crate::blocking::run_blocking;
use crate::budgets;
use crate::clock;
use crate::limits::{GROWTH_COMPACTIONS_MAX, GROWTH_DAYS_MAX};
use crate::project::history::{CommitQuery, HistoryError, HistoryReader};
use crate::sessions::SessionService;

const DAY_MS: i64 = 86_400_000;

/// Reports the growth of a memory. A project without one has not grown.
pub(crate) async fn growth(service: &SessionService, project: &str) -> Answer<GrowthReply> {
    let asked = ask(service, project).await?;
    let known = match asked.id {
        Some(id) => service.projects.open_known(id).await.map_err(store_error)?,
        None => None,
    };
    let Some(open) = known else { return Ok(GrowthReply::default()) };
    let (memory, history) = (open.memory(), open.history().map_err(write_error)?);
    let settings = budgets::project_settings(&memory, &service.config);
    let budget = budgets::project(&memory, &service.config).budget;
    let totals = memory.totals();
    let read = run_blocking(move || {
        let (compactions, more) = compactions(&history)?;
        Ok::<_, HistoryError>((days(&memory), compactions, more))
    });
    let (days, compactions, more) = read.await.map_err(|error| match error {
        HistoryError::Store(error) => store_error(error),
        HistoryError::Writer(error) => write_error(error),
        HistoryError::Refused(why) => super::not_found(&why),
    })?;
    Ok(GrowthReply {
        days,
        active: Kind::ALL.iter().map(|kind| totals.active.of(*kind)).sum(),
        archived: totals.archived,
        note_tokens: totals.note_tokens,
        note_budget: budget.tokens,
        load_tokens: settings.load_tokens(),
        compactions,
        more,
    })
}

fn days(memory: &Memory) -> Vec<GrowthDay> {
    let today = clock::now().0.div_euclid(DAY_MS);
    let first = today - GROWTH_DAYS_MAX + 1;
    let mut by_day: BTreeMap<i64, GrowthDay> = BTreeMap::new();
    for record in memory.records().filter(|record| record.state != RecordState::Forgotten) {
        let day = record.created.time.0.div_euclid(DAY_MS);
        if day < first {
            continue;
        }
        let entry = by_day.entry(day).or_default();
        entry.created += 1;
        if let Some(note) = record.note().filter(|_| record.state.is_active()) {
            entry.note_tokens += u64::from(note.tokens);
        }
    }
    let Some(oldest) = by_day.keys().next().copied() else { return Vec::new() };
    let day = |day: i64| {
        let known = by_day.get(&day).copied().unwrap_or_default();
        GrowthDay { day: day * DAY_MS, ..known }
    };
    (oldest..=today).map(day).collect()
}

/// Finds the last compactions. Also returns whether there are older ones.
fn compactions(history: &HistoryReader) -> Result<(Vec<CompactionRun>, bool), HistoryError> {
    let (operation, limit) = (Some("compact"), GROWTH_COMPACTIONS_MAX);
    let query = CommitQuery { operation, limit, ..CommitQuery::default() };
    let reader = Reader::owner();
    let (commits, next) = history.commits(&query, &reader)?;
    let runs = commits.iter().map(|commit| {
        let counts = commit.described(&reader).counts;
        CompactionRun {
            revision: commit.head.revision.0,
            time: commit.head.time.0,
            archived: counts.archived,
            changed: counts.changed + counts.activated,
            forgotten: counts.forgotten,
        }
    });
    Ok((runs.collect(), next.is_some()))
}

#[cfg(test)]
mod tests;
