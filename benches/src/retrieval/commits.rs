//! Questions about the commits of a repository on this machine, as a developer types them.
//!
//! The messages are read with `git log` and not kept: the file of questions names the repository
//! and the last commit. Each message becomes a note, stored from the oldest to the newest. The
//! measurement runs in this process. It reads quotes and minuses in three ways: always as
//! operators, only if they are clearly meant as such, and never.

use std::path::Path;
use std::process::Command;

use anchord_memory::search::{Query, Tuning};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::InProcess;
use super::dataset::Question;
use super::score::Score;

/// Questions about commits of curl.
pub(super) const QUESTIONS: &str = include_str!("../../data/commits.json");

/// The terminator of each message in the output of `git log`.
const END: char = '\u{1e}';

/// Questions, and the range of commits that they are about.
pub(super) struct Commits {
    pub(super) last: String,
    pub(super) count: usize,
    /// Questions, each with the commit that answers it.
    pub(super) questions: Vec<(String, String)>,
}

impl Commits {
    /// Reads a file of questions.
    pub(super) fn parse(json: &str) -> Result<Self> {
        let set: Value = serde_json::from_str(json).context("the questions")?;
        let text = |value: &Value, field: &str| {
            let text = value.get(field).and_then(Value::as_str).map(str::to_owned);
            text.with_context(|| format!("no `{field}` in {value}"))
        };
        let count = set.get("commits").and_then(Value::as_u64).context("no number of `commits`")?;
        let questions = set.get("questions").and_then(Value::as_array).context("no `questions`")?;
        let question = |it: &Value| Ok((text(it, "commit")?, text(it, "question")?));
        Ok(Self {
            last: text(&set, "last")?,
            count: usize::try_from(count)?,
            questions: questions.iter().map(question).collect::<Result<_>>()?,
        })
    }

    /// Reads the commits' ids and messages, oldest first.
    fn read(&self, repository: &Path) -> Result<Vec<(String, String)>> {
        let output = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["log", "--no-merges", "--format=%H%n%B%x1e"])
            .arg(format!("--max-count={}", self.count))
            .arg(&self.last)
            .output()
            .context("failed to start git")?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let log = String::from_utf8_lossy(&output.stdout);
        let commit = |text: &str| {
            let (id, message) = text.trim().split_once('\n')?;
            Some((id.to_owned(), message.trim().to_owned()))
        };
        let mut commits: Vec<_> = log.split(END).filter_map(commit).collect();
        commits.reverse();
        Ok(commits)
    }
}

/// A way to read a question: its name, and the queries to try until one finds something.
type Reading = (&'static str, fn(&str) -> Vec<Query>);

/// Prints two rows for each way to read the questions: for all, and for those with quotes or
/// minuses.
pub(super) fn report(repository: &Path, commits: &Commits) -> Result<()> {
    let log = commits.read(repository)?;
    let notes: Vec<String> = log.iter().map(|(_, message)| message.clone()).collect();
    let engine = InProcess::store(&notes, Tuning::default());
    println!("{} commits\n{}", notes.len(), Score::head());
    let readings: [Reading; 3] = [
        ("all quotes and minuses bind", |text| vec![Query::strict(text)]),
        ("as shipped", |text| vec![Query::parse(text), Query::plain(text)]),
        ("words alone", |text| vec![Query::plain(text)]),
    ];
    for (name, read) in readings {
        let (mut all, mut signed) = (Score::default(), Score::default());
        for (commit, text) in &commits.questions {
            let at = log.iter().position(|(id, _)| id.starts_with(commit.as_str()));
            let evidence = vec![at.with_context(|| format!("no commit {commit}"))?];
            let question = Question { text: text.clone(), category: 0, evidence };
            let rankings = read(text).into_iter().map(|query| engine.find(&query));
            let ranking = rankings.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
            all.add(&question, &ranking);
            if has_signs(text) {
                signed.add(&question, &ranking);
            }
        }
        println!("| all, {name} | {all} |\n| with quotes or minuses, {name} | {signed} |");
    }
    Ok(())
}

/// Returns whether a question has quotation marks, or a minus at the start or in the middle of a
/// word.
pub(super) fn has_signs(text: &str) -> bool {
    text.contains(['"', '“', '”'])
        || text.split_whitespace().any(|word| word.trim_end_matches('-').contains('-'))
}
