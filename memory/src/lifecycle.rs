//! What happens in an agent's conversation, in one closed set of events, and what may be answered.
//!
//! How a client names its events is known to that client's adapter alone; everything behind the adapters, live or
//! read from a transcript, sees these values. Texts are as the client gave them: whoever keeps one clips it, and
//! takes out secrets and what anchord itself had injected.

use crate::error_line::shows_failure;
use crate::limits::{OUTPUT_HEAD_BYTES_MAX, OUTPUT_TAIL_BYTES_MAX};
use crate::shell::{hides_status, looks_first};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A conversation began, or goes on after something that emptied the model's context.
    SessionStarted {
        /// Why it starts.
        source: StartSource,
    },
    /// The person sent a prompt.
    PromptSubmitted {
        /// Its text.
        prompt: String,
    },
    /// The agent is about to use one of its tools.
    ToolBegins(ToolUse),
    /// The agent used one of its tools.
    ToolRan(ToolRun),
    /// The client is about to replace its context by a summary.
    CompactionBegins {
        /// Messages in the context, where the client counts them.
        messages: Option<u32>,
    },
    /// The client has replaced its context by a summary.
    Compacted {
        /// The summary, where the client gives it.
        summary: Option<String>,
        /// Messages in the context now, where the client counts them.
        messages: Option<u32>,
    },
    /// The agent has answered and waits.
    TurnEnded {
        /// What it said last, where the client gives it.
        last_message: Option<String>,
    },
    /// A subagent begins, under this conversation.
    SubagentStarted(Subagent),
    /// A subagent has ended.
    SubagentEnded(Subagent),
    /// The conversation is over, or its process ends.
    SessionEnded,
    /// The conversation's context was thrown away and it goes on empty under the same name.
    Reset,
}

/// Why a conversation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSource {
    /// It is new.
    Startup,
    /// An earlier one goes on.
    Resume,
    /// The person cleared the context; the client may name it anew.
    Clear,
    /// It begins as a copy of another.
    Fork,
    /// Its context was just compacted.
    Compact,
    /// Nothing happened: the client builds its system prompt again and wants the same bytes as before.
    Rebuilt,
}

/// A use of a tool that is about to begin, as far as memory cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// The client's own id of this use, which identifies the call when it arrives; empty if the
    /// client gives none.
    pub call: String,
    /// Files that it reads or writes, as the client names them.
    pub files: Vec<String>,
    /// The task of the subagent, if the tool starts one.
    pub task: Option<Task>,
}

/// The task of a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The subagent's type, such as `Explore`; empty if the client gives none.
    pub agent_type: String,
    /// The task in the words of the agent that starts the subagent.
    pub prompt: String,
}

/// What one use of a tool did, as far as memory cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRun {
    /// The tool's name in the client.
    pub tool: String,
    /// Files that it wrote, as the client names them.
    pub edited: Vec<String>,
    /// Files that it only read, as the client names them.
    pub read: Vec<String>,
    /// The shell command, if it was one.
    pub command: Option<CommandRun>,
}

/// A shell command and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    /// The command line.
    pub command: String,
    /// How it ended.
    pub outcome: CommandOutcome,
}

/// How a command ended, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// It succeeded.
    Passed,
    /// It failed.
    Failed {
        /// The printed text, without the middle of a long one; empty if the client does not give
        /// it.
        output: String,
    },
    /// Neither the client nor the output says how it ended.
    Unknown,
}

impl CommandRun {
    /// Judges how a command ended. `passed` is the client's report, `None` if there is none;
    /// `output` is the printed text. A success that may be another command's (`cargo test | tail`)
    /// is ignored. Without a status, an output that unmistakably ends in an error means failure; an
    /// output alone never means success.
    pub fn judge(command: String, passed: Option<bool>, output: &str) -> Self {
        let passed = passed.filter(|passed| !(*passed && hides_status(&command)));
        let outcome = match passed {
            Some(true) => CommandOutcome::Passed,
            Some(false) => CommandOutcome::Failed { output: shorten(output) },
            None if !looks_first(&command) && shows_failure(output) => {
                CommandOutcome::Failed { output: shorten(output) }
            }
            None => CommandOutcome::Unknown,
        };
        Self { command, outcome }
    }

    /// The output of a failed command.
    pub fn failure(&self) -> Option<&str> {
        match &self.outcome {
            CommandOutcome::Failed { output } => Some(output),
            CommandOutcome::Passed | CommandOutcome::Unknown => None,
        }
    }
}

/// Keeps the beginning and the end of a long output, cut between lines if there are any.
fn shorten(output: &str) -> String {
    let output = output.trim_end();
    if output.len() <= OUTPUT_HEAD_BYTES_MAX + OUTPUT_TAIL_BYTES_MAX {
        return output.to_owned();
    }
    let head = output.get(..output.floor_char_boundary(OUTPUT_HEAD_BYTES_MAX)).unwrap_or_default();
    let head = head.rsplit_once('\n').map_or(head, |(lines, _)| lines);
    let from = output.ceil_char_boundary(output.len() - OUTPUT_TAIL_BYTES_MAX);
    let tail = output.get(from..).unwrap_or_default();
    let tail = tail.split_once('\n').map_or(tail, |(_, lines)| lines);
    format!("{head}\n…\n{tail}")
}

/// A subagent, as its client tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subagent {
    /// Its id within the conversation; empty where the client gives none.
    pub id: String,
    /// Its type, `Explore`; empty where the client gives none.
    pub agent_type: String,
    /// What it said last, at its end.
    pub last_message: Option<String>,
}

/// What the daemon has to say to an event. How it is said is the adapter's business, also that a client has no
/// channel for it, in which case it is not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is printed.
    #[default]
    Nothing,
    /// Reference for the model's context, framed.
    Context(String),
    /// What a compaction must keep.
    Instructions(String),
}
