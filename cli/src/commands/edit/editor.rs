//! A text in the user's editor, as git opens one.

use std::io::{IsTerminal, Write};
use std::process::Command;

use anyhow::Context;
use tempfile::NamedTempFile;

use crate::exit::Error;
use crate::history::person;

/// A text that was handed to the editor.
pub(super) struct Draft {
    file: NamedTempFile,
    before: String,
}

impl Draft {
    /// Opens a text in $VISUAL or $EDITOR, and waits until the editor exits.
    pub(super) fn open(text: &str) -> Result<Self, Error> {
        let editor = editor()?;
        let mut file = tempfile::Builder::new()
            .prefix("anchord-edit-")
            .suffix(".md")
            .tempfile()
            .context("cannot make a file to edit")?;
        file.write_all(text.as_bytes()).context("cannot write the file to edit")?;
        // This is git's way: the variable may hold a command with arguments.
        let status = Command::new("sh")
            .arg("-c")
            .arg(format!("{editor} \"$@\""))
            .arg(&editor)
            .arg(file.path())
            .status()
            .with_context(|| format!("cannot run the editor `{editor}`"))?;
        if !status.success() {
            return Err(Error::failed(format!(
                "the editor `{editor}` failed; nothing was changed"
            )));
        }
        Ok(Self { file, before: text.to_owned() })
    }

    /// Reads the text back. Returns `None` if it is unchanged.
    pub(super) fn edited(&self) -> Result<Option<String>, Error> {
        let bytes = std::fs::read(self.file.path()).context("cannot read the edited file")?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::failed("the edited text is not UTF-8; nothing was changed"))?;
        // Editors add a newline to the last line.
        let text = if self.before.ends_with('\n') { &text } else { text.trim_end_matches('\n') };
        if text.trim().is_empty() {
            return Err(Error::usage("the text is empty; nothing was changed")
                .with_action(format!("{} takes a record out.", person().command(&["forget"]))));
        }
        Ok((text != self.before).then(|| text.to_owned()))
    }

    /// Keeps the file and adds its path to the error that says why the text was not stored. Removes
    /// an empty file.
    pub(super) fn kept(self, error: Error) -> Error {
        let is_empty = self.file.as_file().metadata().is_ok_and(|file| file.len() == 0);
        if is_empty {
            return error;
        }
        match self.file.keep() {
            Ok((_, path)) => error.and_action(&format!("Your text is in {}.", path.display())),
            Err(_) => error,
        }
    }
}

fn editor() -> Result<String, Error> {
    let named = ["VISUAL", "EDITOR"].iter().filter_map(|name| std::env::var(name).ok());
    let named = named.map(|editor| editor.trim().to_owned()).find(|editor| !editor.is_empty());
    match named {
        Some(editor) => Ok(editor),
        None if std::io::stdin().is_terminal() => Ok("vi".to_owned()),
        None => Err(Error::usage("there is no editor to open")
            .with_action("Set $VISUAL or $EDITOR, or say what to change: `anchord edit --help`.")),
    }
}
