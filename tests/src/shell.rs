//! A person at a shell, who runs the command line in a directory and reads its output.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::Instance;

/// A shell in a directory.
pub struct Shell<'a> {
    instance: &'a Instance,
    directory: &'a Path,
}

impl<'a> Shell<'a> {
    /// Opens a shell in a directory.
    pub fn new(instance: &'a Instance, directory: &'a Path) -> Self {
        Self { instance, directory }
    }

    /// Prepares a command with an empty standard input.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.instance.anchord();
        command.current_dir(self.directory).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary can be run")
    }

    /// Runs a command. Returns the exit code and everything that it printed.
    #[track_caller]
    pub fn said(&self, arguments: &[&str]) -> (i32, String) {
        let Output { status, stdout, stderr } = self.run(arguments);
        let text = [stdout, stderr].concat();
        assert!(!text.contains(&b'\x1b'), "no colour where nobody looks");
        let code = status.code().expect("it exits by itself");
        (code, String::from_utf8(text).expect("it prints UTF-8"))
    }

    /// Runs a command that must succeed. Returns everything that it printed.
    #[track_caller]
    pub fn done(&self, arguments: &[&str]) -> String {
        let (code, text) = self.said(arguments);
        assert_eq!(code, 0, "{arguments:?}: {text}");
        text
    }

    /// Runs a command and returns the JSON that it prints.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).expect("it prints JSON")
    }
}
