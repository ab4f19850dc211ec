//! The events of an agent's conversation, as one closed set, and the possible answers.
//!
//! Only a client's adapter knows the client's own event names. Everything behind the adapters sees
//! these values, whether they are live or read from a transcript. Texts are unchanged from the
//! client. Code that stores one clips it, and removes secrets and text that anchord injected.

use crate::error_line::shows_failure;
use crate::limits::{OUTPUT_HEAD_BYTES_MAX, OUTPUT_TAIL_BYTES_MAX};
use crate::shell::{hides_status, looks_first};

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A conversation began, or continues after something emptied the model's context.
    SessionStarted {
        /// The reason for the start.
        source: StartSource,
    },
    /// The user sent a prompt.
    PromptSubmitted {
        /// The prompt's text.
        prompt: String,
    },
    /// The agent is about to use one of its tools.
    ToolBegins(ToolUse),
    /// The agent used one of its tools.
    ToolRan(ToolRun),
    /// The client is about to replace its context by a summary.
    CompactionBegins {
        /// The number of messages in the context, if the client counts them.
        messages: Option<u32>,
    },
    /// The client has replaced its context by a summary.
    Compacted {
        /// The summary, if the client sends it.
        summary: Option<String>,
        /// The number of messages in the context now, if the client counts them.
        messages: Option<u32>,
    },
    /// The agent has answered and waits.
    TurnEnded {
        /// The agent's last message, if the client sends it.
        last_message: Option<String>,
    },
    /// A subagent begins, under this conversation.
    SubagentStarted(Subagent),
    /// A subagent has ended.
    SubagentEnded(Subagent),
    /// The conversation is over, or its process ends.
    SessionEnded,
    /// The conversation's context was discarded, and it continues empty under the same name.
    Reset,
}

/// The reason why a conversation starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSource {
    /// A new conversation.
    Startup,
    /// An earlier conversation that continues.
    Resume,
    /// A cleared context; the client may rename the conversation.
    Clear,
    /// A copy of another conversation.
    Fork,
    /// A context that was just compacted.
    Compact,
    /// A rebuilt system prompt: nothing happened, and the client wants the same bytes as before.
    Rebuilt,
}

/// A use of a tool that is about to begin, as far as memory needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct ToolUse {
    /// The client's own id of this use, which identifies the call when it arrives; empty if the
    /// client sends none.
    pub call: String,
    /// The files that it reads or writes, as the client names them.
    pub files: Vec<String>,
    /// Whether it reads its file from the beginning to the end.
    pub reads_whole: bool,
    /// The task of the subagent, if the tool starts one.
    pub task: Option<Task>,
    /// The tool's name in the client; empty if the client sends none.
    pub tool: String,
    /// The shell command, if it is one.
    pub command: Option<String>,
    /// The directory in which it runs, if that is known.
    pub directory: Option<String>,
    /// The files that it writes, as the client names them.
    pub writes: Vec<String>,
    /// Whether it is known to write no others, besides what its command writes.
    pub only_reads: bool,
    /// Whether the client takes a text for the model before the tool, not only after it.
    pub takes_context: bool,
    /// Whether the client never reports the tool's end, so that this counts as its run too.
    pub is_run: bool,
}

/// The task of a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The subagent's type, such as `Explore`; empty if the client sends none.
    pub agent_type: String,
    /// The task in the words of the agent that starts the subagent.
    pub prompt: String,
}

/// The effects of one use of a tool, as far as memory needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRun {
    /// The tool's name in the client.
    pub tool: String,
    /// The files that it wrote, as the client names them.
    pub edited: Vec<String>,
    /// The files that it only read, as the client names them.
    pub read: Vec<String>,
    /// The shell command, if it was one.
    pub command: Option<CommandRun>,
}

/// A shell command and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRun {
    /// The command line.
    pub command: String,
    /// The outcome.
    pub outcome: CommandOutcome,
}

/// The outcome of a command, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The command succeeded.
    Passed,
    /// The command failed.
    Failed {
        /// The printed text, without the middle of a long one; empty if the client does not send
        /// it.
        output: String,
    },
    /// Neither the client nor the output shows the outcome.
    Unknown,
}

impl CommandRun {
    /// Judges how a command ended. `passed` is the client's report, `None` if there is none;
    /// `output` is the printed text. A success that may be another command's (`cargo test | tail`)
    /// is ignored. Without a status, an output that unmistakably ends in an error means failure. An
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

    /// Returns the output of a failed command.
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

/// A subagent, as its client reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subagent {
    /// Its id within the conversation; empty if the client sends none.
    pub id: String,
    /// Its type, such as `Explore`; empty if the client sends none.
    pub agent_type: String,
    /// Its last message, at its end.
    pub last_message: Option<String>,
}

/// The daemon's answer to an event. The adapter chooses the wording for its client, and drops an
/// answer for which the client has no channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Nothing is printed.
    #[default]
    Nothing,
    /// Reference for the model's context, framed.
    Context(String),
    /// Instructions on what a compaction must keep.
    Instructions(String),
    /// A rule stops a tool, or has a person asked first. The text is for the model and the person.
    Stop {
        /// Whether a person may let it pass, in the client's own prompt.
        asks: bool,
        /// The rules that decided, their reasons, and what would make the tool pass.
        reason: String,
    },
}
