//! The commands that a command line runs, in the form in which they would run.
//!
//! brush-parser reads the grammar. This module follows what is known before the run: quotes,
//! variables, functions, aliases, programs that run other programs, and texts that become scripts.
//! Anything unknown becomes [`Sym::Any`]. It never guesses that a branch is not taken, so every
//! command that might run is in the result.

mod git;
mod grammar;
mod inline_code;
mod patches;
mod programs;
mod scopes;
mod streams;
mod walk;
mod words;
mod wrappers;

use crate::verdict::{Access, Unparsed};
use crate::wild::{Match, Sym, Wild, shown, syms};

/// A word after the shell's expansions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its characters.
    pub(crate) syms: Vec<Sym>,
    /// Whether it may become no word or several, since an unquoted part of it is unknown.
    pub(crate) splits: bool,
}

/// A command that runs: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The program, then its arguments.
    pub(crate) words: Vec<Word>,
}

/// The commands of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// All commands that may run, without duplicates.
    pub(crate) invocations: Vec<Invocation>,
    /// Files that redirections and patches name, and how they use them.
    pub(crate) files: Vec<(Word, Access)>,
    /// Directories to which the command line changes.
    pub(crate) directories: Vec<Word>,
    /// The first part that could not be read.
    pub(crate) unparsed: Option<Unparsed>,
}

impl Word {
    pub(crate) fn literal(text: &str) -> Self {
        Self { syms: syms(text), splits: false }
    }

    /// Returns the word for any number of unknown words.
    pub(crate) fn unknown() -> Self {
        Self { syms: vec![Sym::Any], splits: true }
    }

    /// Returns the text, unless a part of it is unknown.
    pub(crate) fn text(&self) -> Option<String> {
        let known = self.syms.iter().map(|sym| match sym {
            Sym::Char(c) => Some(*c),
            Sym::Any => None,
        });
        known.collect()
    }

    /// Returns the text with `…` for unknown parts.
    pub(crate) fn shown(&self) -> String {
        shown(&self.syms)
    }

    /// Whether it may be this text.
    fn may_be(&self, text: &str) -> bool {
        let known = |sym: &Sym| match sym {
            Sym::Char(c) => c.to_string(),
            Sym::Any => "*".to_owned(),
        };
        let pattern: String = self.syms.iter().map(known).collect();
        Wild::word(&pattern).matches(&syms(text)) == Match::Yes
    }

    pub(crate) fn is_flag(&self) -> bool {
        self.syms.first() == Some(&Sym::Char('-')) && self.syms.len() > 1
    }
}

impl Invocation {
    pub(crate) fn text(&self) -> String {
        self.words.iter().map(Word::shown).collect::<Vec<_>>().join(" ")
    }
}

/// Returns a program's name: what follows the last slash, in lower case, without `.exe`. Disks that
/// ignore case run `GIT` as git. `None` if it is unknown.
pub(crate) fn program_name(word: &Word) -> Option<String> {
    let tail = word.syms.rsplit(|sym| *sym == Sym::Char('/')).next()?;
    let name: Option<String> = tail
        .iter()
        .map(|sym| match sym {
            Sym::Char(c) => Some(c.to_ascii_lowercase()),
            Sym::Any => None,
        })
        .collect();
    let name = name.filter(|name| !name.is_empty())?;
    Some(name.strip_suffix(".exe").map_or(name.clone(), str::to_owned))
}

/// Whether a program runs another one that its arguments give.
pub(crate) fn runs_another(name: &str) -> bool {
    wrappers::find(name).is_some() || programs::SHELLS.contains(&name)
}

/// Reads a command line.
pub(crate) fn read(command: &str) -> Reading {
    walk::Reader::read(command)
}

#[cfg(test)]
mod tests;
