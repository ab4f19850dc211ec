//! Reads fields of a payload. A field of another type counts as missing.

use anchord_memory::lifecycle::{CommandRun, Event, StartSource, Subagent, Task, ToolRun, ToolUse};
use serde_json::{Map, Value};

use super::input;
use crate::patch::patched;

/// An object of a payload.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a>(Option<&'a Map<String, Value>>);

impl<'a> Payload<'a> {
    pub(crate) fn new(object: &'a Map<String, Value>) -> Self {
        Self(Some(object))
    }

    pub(crate) fn value(self, field: &str) -> Option<&'a Value> {
        self.0?.get(field)
    }

    /// Returns a text that is not empty.
    pub(crate) fn text(self, field: &str) -> Option<&'a str> {
        self.value(field)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns a text that is not empty, as an owned value.
    pub(crate) fn owned(self, field: &str) -> Option<String> {
        self.text(field).map(str::to_owned)
    }

    pub(crate) fn number(self, field: &str) -> Option<u32> {
        self.value(field)?.as_u64().and_then(|number| u32::try_from(number).ok())
    }

    /// Returns a nested object. It has no fields if the value is not an object.
    pub(crate) fn object(self, field: &str) -> Self {
        Self(self.value(field).and_then(Value::as_object))
    }

    /// Returns whether a field is `true`.
    pub(crate) fn flag(self, field: &str) -> bool {
        self.value(field).and_then(Value::as_bool) == Some(true)
    }

    /// Returns the conversation's id, from the field that most clients use.
    pub(crate) fn session(self) -> Option<&'a str> {
        self.text("session_id")
    }

    /// Returns the source of a start, by the names that Claude Code and others use.
    pub(crate) fn source(self) -> StartSource {
        match self.text("source").unwrap_or_default() {
            "resume" => StartSource::Resume,
            "clear" => StartSource::Clear,
            "fork" => StartSource::Fork,
            "compact" => StartSource::Compact,
            _ => StartSource::Startup,
        }
    }

    /// Returns the prompt that a person sent; empty if there is none.
    pub(crate) fn prompted(self) -> Event {
        Event::PromptSubmitted { prompt: self.owned("prompt").unwrap_or_default() }
    }

    /// Returns the subagent that a payload in Claude Code's format names.
    pub(crate) fn agent(self) -> Option<Subagent> {
        let id = self.owned("agent_id")?;
        let agent_type = self.owned("agent_type").unwrap_or_default();
        Some(Subagent { id, agent_type, last_message: self.owned("last_assistant_message") })
    }

    /// Reads a tool's run from its input: a file that it wrote, a patch, or a command and its
    /// outcome. `passed` is `None` if the client does not report it. `output` is the text that the
    /// command printed.
    pub(crate) fn tool(self, writes: &[&str], passed: Option<bool>, output: &str) -> ToolRun {
        let tool = self.owned("tool_name").unwrap_or_default();
        let input = self.object("tool_input");
        let edited = input.edited(&tool, writes);
        let command = input.command().filter(|_| edited.is_empty());
        let command = command.map(|command| CommandRun::judge(command, passed, output));
        ToolRun { tool, edited, read: Vec::new(), command }
    }

    /// Returns the files that a tool with this input writes: the file that it names if it is among
    /// `writes`, and those of its patches.
    fn edited(self, tool: &str, writes: &[&str]) -> Vec<String> {
        let mut edited = Vec::new();
        if writes.contains(&tool) {
            let named = ["file_path", "notebook_path", "filePath"];
            edited.extend(named.into_iter().find_map(|field| self.owned(field)));
        }
        edited.extend(self.patched());
        edited
    }

    /// Returns the command line. Some tools take it as a list of words.
    pub(crate) fn command(self) -> Option<String> {
        input::command(self.0?)
    }

    /// Reads a tool that is about to run: the files that its input or patch names, and the task
    /// that it gives a subagent. `writes` are the tools that write the file they name. The call is
    /// named only if it arrives here, because few are expected at a time.
    pub(crate) fn tool_use(self, writes: &[&str]) -> ToolUse {
        let tool = self.text("tool_name").unwrap_or_default();
        let input = self.object("tool_input");
        let task = input.owned("prompt").map(|prompt| Task {
            agent_type: input.owned("subagent_type").unwrap_or_default(),
            prompt,
        });
        ToolUse {
            takes_context: true,
            tool: tool.to_owned(),
            // A shell's command may have a patch in it, and is a command all the same.
            command: input.command().filter(|_| tool != PATCH_TOOL),
            directory: DIRECTORY_FIELDS.into_iter().find_map(|field| input.owned(field)),
            writes: input.edited(tool, writes),
            only_reads: only_reads(tool) || input.command().is_some(),
            is_run: false,
            call: self.owned("tool_use_id").filter(|_| is_from_server(tool)).unwrap_or_default(),
            files: input.files(tool),
            reads_whole: READ_TOOLS.contains(&tool)
                && PART_FIELDS.iter().all(|field| input.value(field).is_none_or(Value::is_null)),
            task: task.filter(|_| TASK_TOOLS.contains(&tool)),
        }
    }

    /// Returns the files that a tool's input names, with those of its patches. A pattern of files
    /// counts as a path, beneath the folder that the input names.
    fn files(self, tool: &str) -> Vec<String> {
        let named = FILE_FIELDS.into_iter().flat_map(|field| self.texts(field));
        let mut files: Vec<String> = named.map(str::to_owned).chain(self.patched()).collect();
        let folder = ["path", "dir_path"].into_iter().find_map(|field| self.text(field));
        let glob = GLOB_TOOLS.contains(&tool).then_some("pattern");
        let fields = PATTERN_FIELDS.into_iter().chain(glob);
        let patterns = fields.flat_map(|field| self.texts(field)).flat_map(each_pattern);
        files.extend(patterns.map(|pattern| match folder {
            Some(folder) if !pattern.starts_with(['/', '~']) => {
                format!("{}/{pattern}", folder.trim_end_matches('/'))
            }
            _ => pattern.to_owned(),
        }));
        files
    }

    /// Returns the texts of a field that has one, or a list of them.
    fn texts(self, field: &str) -> Vec<&'a str> {
        let texts = match self.value(field) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text.as_str()],
            _ => Vec::new(),
        };
        texts.into_iter().filter(|text| !text.is_empty()).collect()
    }

    /// Returns the files that the patches in a tool's input name.
    pub(crate) fn patched(self) -> impl Iterator<Item = String> {
        let texts = PATCH_FIELDS.into_iter().flat_map(move |field| self.texts(field));
        texts.filter(|text| text.contains("*** Begin Patch")).flat_map(patched)
    }
}

/// Fields of a tool's input that name the directory in which it runs.
const DIRECTORY_FIELDS: [&str; 2] = ["workdir", "dir_path"];
/// Fields of a tool's input that may hold a patch.
const PATCH_FIELDS: [&str; 4] = ["command", "input", "patch", "patchText"];
/// The tool that has a patch where others have a command.
const PATCH_TOOL: &str = "apply_patch";
/// Fields of a tool's input that name a file, or a list of files.
const FILE_FIELDS: [&str; 8] = [
    "file_path",
    "notebook_path",
    "filePath",
    "absolute_path",
    "path",
    "paths",
    "files",
    "file_paths",
];
/// Fields of a tool's input that have a pattern of files, or a list of such patterns.
const PATTERN_FIELDS: [&str; 3] = ["glob", "include", "include_pattern"];
/// Tools whose pattern is one of files. Elsewhere it is one of text.
const GLOB_TOOLS: [&str; 2] = ["Glob", "glob"];
/// Tools that read the file they name.
const READ_TOOLS: [&str; 4] = ["Read", "read", "read_file", "view"];
/// Fields of such a tool's input that limit it to a part of the file.
const PART_FIELDS: [&str; 6] = ["offset", "limit", "pages", "start_line", "end_line", "view_range"];
/// Tools that change no file.
const ONLY_READ: [&str; 14] = [
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "glob",
    "grep",
    "grep_search",
    "list",
    "list_directory",
    "ls",
    "read_files",
    "read_many_files",
    "search_codebase",
    "search_file_content",
];

/// Returns whether a tool of any client is known to change no file.
pub(crate) fn only_reads(tool: &str) -> bool {
    READ_TOOLS.contains(&tool) || ONLY_READ.contains(&tool)
}

/// Splits patterns in one text, as Claude Code does: at spaces, and at commas outside of braces.
/// Leaves out patterns of what is not searched.
fn each_pattern(text: &str) -> Vec<&str> {
    let patterns = text.split_whitespace().flat_map(|word| {
        let is_list = !word.contains('{');
        word.split(move |c| is_list && c == ',')
    });
    patterns.filter(|pattern| !pattern.is_empty() && !pattern.starts_with('!')).collect()
}

/// Tools that start a subagent.
const TASK_TOOLS: [&str; 2] = ["Agent", "Task"];

/// Returns whether a tool may belong to this server. The prefix is Claude Code's; the server's name
/// after it is the user's choice.
fn is_from_server(tool: &str) -> bool {
    tool.starts_with("mcp__")
}
