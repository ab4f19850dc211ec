//! `anchord history`: lists commits, or the versions of a record.

use std::io::Write;

use anchord_memory::{CommitPage, HistoryView, RecordVersions};
use serde_json::{Value, json};

use super::{MemoryArg, print_json};
use crate::exit::Error;
use crate::history;
use crate::limits::HISTORY_PAGE_COMMITS;
use crate::pager::paged;
use crate::text;
use crate::tool::{self, Caller};

/// List what changed in memory, newest first: commits, or one record's versions
///
/// Every change of shared memory is a commit with a number. `anchord show` prints one, `anchord
/// undo` takes it back. A time is a date, or how long ago: 2026-11-02, yesterday, 2w.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  anchord history
  anchord history --since yesterday --diff
  anchord history n12
  anchord history --kind lesson --file src/parser.rs --limit 5
  anchord history --json | jq -r '.commits[] | [.revision, .summary] | @tsv'")]
pub(crate) struct Args {
    /// Only this record, by its id or key: its versions with their differences
    #[arg(value_name = "ID|KEY")]
    record: Option<String>,
    /// Only commits of this session; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with = "record")]
    session: Option<String>,
    /// Only commits that wrote a record of this kind; may be repeated
    #[arg(long, value_parser = tool::kinds(), value_name = "KIND", conflicts_with = "record")]
    kind: Vec<String>,
    /// Only commits that wrote a record about this file
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    file: Option<String>,
    /// Only commits since this time
    #[arg(long, value_name = "TIME", value_parser = text::since, conflicts_with = "record")]
    since: Option<String>,
    /// Only commits before this time
    #[arg(long, value_name = "TIME", value_parser = text::since, conflicts_with = "record")]
    until: Option<String>,
    /// Also print what each commit changed
    #[arg(long, short = 'p')]
    diff: bool,
    /// Maximum number of commits or versions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Cursor from an earlier answer, to continue after it
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    memory: MemoryArg,
    /// Print JSON: the commits or versions, and the cursor of what comes after them
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Error> {
        let memory = self.memory.resolve_for(self.record.as_deref().unwrap_or_default())?;
        let mut pages = Pages {
            caller: Caller::new(memory)?,
            left: self.limit.map_or(usize::MAX, |limit| limit as usize),
            cursor: self.cursor.clone(),
            is_first: true,
            arguments: self.arguments(),
        };
        if self.json {
            return print_json(out, &pages.all()?);
        }
        // The first page comes before the pager, which would hide an error.
        let first = pages.next()?;
        paged(out, |out| {
            let mut page = first;
            while let Some(view) = page {
                history::print(out, &view)?;
                page = pages.next()?;
            }
            Ok(())
        })
    }

    fn arguments(&self) -> Value {
        json!({
            "record": self.record,
            "session": self.session,
            "kinds": self.kind,
            "file": self.file.as_deref().map(absolute),
            "since": self.since,
            "until": self.until,
            "diff": self.diff,
        })
    }
}

/// Returns a path as the daemon takes it, which does not share our working directory. A path that
/// does not exist is one within the project.
fn absolute(file: &str) -> String {
    let path = std::path::Path::new(file);
    let there = path.exists().then(|| std::path::absolute(path).ok()).flatten();
    there.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(file.to_owned())
}

/// The pages of an answer, fetched one by one.
struct Pages {
    caller: Caller,
    arguments: Value,
    /// The number of items that are still wanted.
    left: usize,
    cursor: Option<String>,
    is_first: bool,
}

impl Pages {
    /// Fetches the next page; `None` after the last. Only the last page that is wanted names a
    /// cursor.
    fn next(&mut self) -> Result<Option<HistoryView>, Error> {
        if !self.is_first && (self.left == 0 || self.cursor.is_none()) {
            return Ok(None);
        }
        let mut arguments = self.arguments.clone();
        if let Value::Object(arguments) = &mut arguments {
            arguments.insert("limit".to_owned(), self.left.min(HISTORY_PAGE_COMMITS).into());
            arguments.insert("cursor".to_owned(), self.cursor.clone().into());
        }
        let (mut view, reply) = history::ask(&mut self.caller, "memory_history", arguments)?;
        let is_first = std::mem::replace(&mut self.is_first, false);
        self.cursor = reply.cursor;
        let (number, clear): (usize, &mut dyn FnMut()) = match &mut view {
            HistoryView::Commits(page) => (page.commits.len(), &mut || page.next = None),
            HistoryView::Versions(page) => (page.versions.len(), &mut || page.next = None),
            _ => (0, &mut || ()),
        };
        self.left = self.left.saturating_sub(number);
        let goes_on = self.left > 0 && self.cursor.is_some();
        if goes_on {
            clear();
        }
        // A page without a match, of a search that goes on.
        if number == 0 && (goes_on || !is_first) {
            return self.next();
        }
        Ok(Some(view))
    }

    /// Fetches all pages as one.
    fn all(&mut self) -> Result<HistoryView, Error> {
        let mut all: Option<HistoryView> = None;
        while let Some(page) = self.next()? {
            all = Some(match (all, page) {
                (Some(HistoryView::Commits(mut all)), HistoryView::Commits(page)) => {
                    all.commits.extend(page.commits);
                    HistoryView::Commits(CommitPage { next: page.next, ..all })
                }
                (Some(HistoryView::Versions(mut all)), HistoryView::Versions(page)) => {
                    all.versions.extend(page.versions);
                    HistoryView::Versions(RecordVersions { next: page.next, ..all })
                }
                (_, page) => page,
            });
        }
        Ok(all.unwrap_or_else(|| HistoryView::Commits(CommitPage::default())))
    }
}
