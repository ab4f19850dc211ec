//! Texts of `--tools infinite-context`, in the forms that users of that system know, over the
//! brief.

use super::{append, size};
use crate::brief::Brief;
use crate::fold::one_line;
use crate::ids::{Timestamp, Version};
use crate::limits::INFINITE_CONTEXT_TOKENS;

/// Renders the first line of the reply to a checkpoint.
pub fn checkpoint(version: Version) -> String {
    format!("Checkpoint saved successfully (version {})\n", version.0)
}

/// Renders the brief, at the start of a session.
pub fn resume(brief: &Brief) -> String {
    let mut text = "# Project Context Resume\n".to_owned();
    let mut part = |heading: &str, body: &str| {
        if !body.trim().is_empty() {
            append(&mut text, format_args!("\n## {heading}\n{}\n", body.trim_end()));
        }
    };
    part("Overview", &brief.topic.overview);
    part("Architecture", &brief.topic.architecture);
    part("Current Task", &brief.topic.status);
    let files: Vec<String> = brief.files().map(|file| format!("- {file}")).collect();
    part("Active Files", &files.join("\n"));
    let changes = brief.changes().into_iter().map(|line| {
        let files = match line.files.as_slice() {
            [] => String::new(),
            files => format!(" ({})", files.join(", ")),
        };
        format!("- {}: {}{files}", line.time.second(), line.text)
    });
    part("Recent Changes", &changes.collect::<Vec<_>>().join("\n"));
    let decisions = brief.decisions().map(|it| {
        let answer = it.decision.map(|answer| format!(": {}", one_line(&answer)));
        format!("- [{}] {}{}", it.status.name(), it.question, answer.unwrap_or_default())
    });
    part("Decisions", &decisions.collect::<Vec<_>>().join("\n"));
    match brief.version {
        Version(0) => append(&mut text, format_args!("\nVersion 0, no checkpoint yet\n")),
        Version(version) => append(
            &mut text,
            format_args!("\nVersion {}, last checkpoint {}\n", version, brief.written.second()),
        ),
    }
    text
}

/// A checkpoint that a rollback can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpointed {
    /// Its version.
    pub version: Version,
    /// Its time.
    pub time: Timestamp,
}

/// Everything that the status shows besides the brief.
#[derive(Clone, Debug, Default)]
pub struct StatusView<'a> {
    /// The time of the last `resume`.
    pub last_access: Option<Timestamp>,
    /// The token count of the last checkpoint.
    pub tokens: u64,
    /// The newest checkpoints, newest first.
    pub checkpoints: &'a [Checkpointed],
    /// The number of all checkpoints.
    pub checkpoints_total: usize,
    /// The clients of other live sessions.
    pub live: Vec<&'a str>,
}

/// Renders the status of the brief.
pub fn status(brief: &Brief, view: &StatusView<'_>) -> String {
    let never = || "never".to_owned();
    let written = match brief.version {
        Version(0) => never(),
        Version(_) => brief.written.second(),
    };
    let project = if brief.project.is_empty() { "(none yet)" } else { &brief.project };
    let budget = u64::from(INFINITE_CONTEXT_TOKENS);
    let mut text = format!(
        "# Project State Status\n\nSession ID: {project}\nVersion: {}\nLast Checkpoint: {written}\n\
         Last Access: {}\nToken Budget Used: {} / {} ({}%)\n",
        brief.version.0,
        view.last_access.map_or_else(never, Timestamp::second),
        size::grouped(view.tokens),
        size::grouped(budget),
        super::percent(view.tokens, INFINITE_CONTEXT_TOKENS),
    );
    let files: Vec<&str> = brief.files().collect();
    append(&mut text, format_args!("\nActive Files: {}\n", files.len()));
    for file in files {
        append(&mut text, format_args!("  - {file}\n"));
    }
    append(&mut text, format_args!("\nActive Decisions: {}\n", brief.topic.decisions.len()));
    for decision in brief.decisions() {
        append(&mut text, format_args!("  - [{}] {}\n", decision.status.name(), decision.question));
    }
    append(
        &mut text,
        format_args!("\nCheckpoint History: {} versions available\n", view.checkpoints_total),
    );
    for (at, checkpoint) in view.checkpoints.iter().enumerate() {
        let Checkpointed { version, time } = checkpoint;
        append(&mut text, format_args!("  {at}. v{} - {}\n", version.0, time.second()));
    }
    if !view.live.is_empty() {
        append(&mut text, format_args!("\nLive Sessions: {}\n", view.live.join(", ")));
    }
    text
}

/// Renders the reply to a rollback: the version gone back to, and the version that this made.
pub fn rolled_back(to: Checkpointed, now: Version) -> String {
    let Checkpointed { version, time } = to;
    format!("Rolled back to version {} ({})\nnow version {}\n", version.0, time.second(), now.0)
}

/// The reply to a rollback if there is nothing to go back to.
pub const NO_HISTORY: &str = "No checkpoint history available to rollback.\n";

/// Renders the reply to a rollback that goes too far. `reach` is how far one can go.
pub fn too_far(reach: u64, steps: u64) -> String {
    format!("Only {reach} checkpoints available. Cannot rollback {steps} steps.\n")
}

#[cfg(test)]
mod tests;
