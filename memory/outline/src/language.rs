//! A language: how its files are recognised, and how they are read.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::languages::LANGUAGES;

/// A language that has a grammar.
pub struct Language {
    /// The name in caches and arguments. It never changes.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// The names of files that have no such extension.
    pub files: &'static [&'static str],
    /// The programs that a script of this language names in its first line.
    pub interpreters: &'static [&'static str],
    /// The way in which its files are read.
    #[cfg(feature = "grammars")]
    pub(crate) grammar: crate::parse::Grammar,
}

impl Language {
    /// Finds a language by its id.
    pub fn by_id(id: &str) -> Option<&'static Self> {
        LANGUAGES.iter().copied().find(|language| language.id == id)
    }

    /// Recognises a file's language by its name, else by the first line of its text.
    pub fn of_file(name: &str, text: &str) -> Option<&'static Self> {
        let lower = name.to_lowercase();
        let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
        if extension == Some("h") && is_cpp(text) {
            return Self::by_id("cpp");
        }
        let by_name = |language: &&Self| language.files.contains(&name);
        let by_extension =
            |language: &&Self| extension.is_some_and(|it| language.extensions.contains(&it));
        let interpreter = interpreter(text);
        let by_interpreter =
            |language: &&Self| interpreter.is_some_and(|it| language.interpreters.contains(&it));
        let find = |is: &dyn Fn(&&Self) -> bool| LANGUAGES.iter().copied().find(|it| is(it));
        find(&by_name).or_else(|| find(&by_extension)).or_else(|| find(&by_interpreter))
    }
}

/// Returns whether a header has a line that only C++ has.
fn is_cpp(text: &str) -> bool {
    let begins =
        ["template", "namespace ", "class ", "public:", "private:", "protected:", "using "];
    text.lines().any(|line| begins.iter().any(|word| line.trim_start().starts_with(word)))
}

/// Returns the program that a script's first line names, without its version.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace();
    let program = words.next()?.rsplit('/').next()?;
    let program = match program {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
        program => program,
    };
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Language {}

impl Serialize for Language {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}

impl<'de> Deserialize<'de> for &'static Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Language::by_id(&id).ok_or_else(|| D::Error::custom(format!("unknown language `{id}`")))
    }
}
