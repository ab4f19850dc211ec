//! A conversation of Claude Code, as its hooks report it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anchord_tests::{Instance, binaries, shipped};
use serde_json::{Value, json};

use super::dataset::Action;

/// Creates an instance with the programs to measure: the shipped ones, except in a debug build.
pub(super) fn instance() -> Instance {
    if cfg!(debug_assertions) { Instance::new() } else { Instance::shipped() }
}

/// One conversation in a project.
pub(super) struct Conversation<'a> {
    instance: &'a Instance,
    directory: &'a Path,
    id: String,
    /// Durations of the hooks' processes, from start to exit.
    pub(super) took: Vec<Duration>,
    events: usize,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(instance: &'a Instance, directory: &'a Path, id: &str) -> Self {
        Self { instance, directory, id: id.to_owned(), took: Vec::new(), events: 0 }
    }

    /// Starts, or continues after a compaction. Returns the text that the model gets.
    pub(super) fn start(&mut self, source: &str) -> String {
        self.hook("SessionStart", json!({ "source": source }))
    }

    /// Reports a prompt, a tool that is about to run, or a failed one. Returns the text that the
    /// model gets.
    pub(super) fn tell(&mut self, action: &Action) -> String {
        let id = format!("toolu_{}_{}", self.id, self.events);
        match action {
            Action::Prompt(prompt) => self.hook("UserPromptSubmit", json!({ "prompt": prompt })),
            Action::Edit(file) | Action::Read(file) => {
                let tool = if matches!(action, Action::Edit(_)) { "Edit" } else { "Read" };
                let file = self.directory.join(file);
                self.hook(
                    "PreToolUse",
                    json!({"tool_name": tool, "tool_input": {"file_path": file}, "tool_use_id": id}),
                )
            }
            Action::Failed { command, output } => self.hook(
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
                    "error": format!("Exit code 1\n{output}"), "is_interrupt": false}),
            ),
        }
    }

    /// Reports a command that passed.
    pub(super) fn passed(&mut self, command: &str) {
        let id = format!("toolu_{}_{}", self.id, self.events);
        self.hook(
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
                "tool_response": {"stdout": "ok", "stderr": "", "interrupted": false}}),
        );
    }

    /// Reports a file that was edited.
    pub(super) fn edited(&mut self, file: &str) {
        let id = format!("toolu_{}_{}", self.id, self.events);
        let file = self.directory.join(file);
        self.hook(
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_input": {"file_path": file}, "tool_use_id": id,
                "tool_response": {"filePath": file}}),
        );
    }

    /// Compacts. Returns the text that the model gets afterwards.
    pub(super) fn compact(&mut self) -> String {
        self.hook("PreCompact", json!({"trigger": "auto", "custom_instructions": ""}));
        self.start("compact")
    }

    pub(super) fn end(&mut self) {
        self.hook("SessionEnd", json!({ "reason": "other" }));
    }

    fn hook(&mut self, name: &str, more: Value) -> String {
        let mut event =
            json!({"hook_event_name": name, "session_id": self.id, "cwd": self.directory});
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        self.events += 1;
        let programs = if cfg!(debug_assertions) { binaries() } else { shipped() };
        let mut hook = self.instance.command(&programs.anchord_hook);
        hook.arg("claude-code").current_dir(self.directory);
        hook.stdin(Stdio::piped()).stdout(Stdio::piped());
        let begin = Instant::now();
        let mut hook = hook.spawn().expect("the hook was built");
        let mut stdin = hook.stdin.take().expect("stdin is piped");
        stdin.write_all(event.to_string().as_bytes()).expect("the hook reads");
        drop(stdin);
        let output = hook.wait_with_output().expect("the hook is ours");
        self.took.push(begin.elapsed());
        assert!(output.status.success(), "a hook always ends well");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer: Value = serde_json::from_str(&printed).unwrap_or(Value::Null);
        let context = answer.pointer("/hookSpecificOutput/additionalContext");
        context.and_then(Value::as_str).map_or(printed.clone(), str::to_owned)
    }
}
