//! The languages that have a grammar, one file each.

mod bash;
mod c;
mod c_sharp;
mod cpp;
mod go;
mod java;
mod javascript;
mod json;
mod markdown;
mod php;
mod python;
mod ruby;
mod rust;
mod sql;
mod toml;
mod tsx;
mod typescript;
mod yaml;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::language::Language;
#[cfg(feature = "grammars")]
use crate::{outline::Outline, parse::Grammar};

macro_rules! languages {
    ($($module:ident,)*) => {
        /// All languages. A file that fits two belongs to the first.
        pub static LANGUAGES: &[&Language] = &[$(&$module::LANGUAGE,)*];

        /// The ways in which their files are read, in the same order.
        #[cfg(feature = "grammars")]
        pub(crate) static GRAMMARS: &[&Grammar] = &[$(&$module::grammar::GRAMMAR,)*];
    };
}

languages! {
    rust,
    typescript,
    javascript,
    tsx,
    python,
    go,
    java,
    c,
    cpp,
    c_sharp,
    ruby,
    php,
    bash,
    json,
    toml,
    yaml,
    markdown,
    sql,
}

/// Outlines a text in a language.
#[cfg(feature = "grammars")]
pub fn parse(language: &'static Language, text: &str) -> Outline {
    let of_it = LANGUAGES.iter().zip(GRAMMARS).find(|(known, _)| known.id == language.id);
    let grammar = of_it.map(|(_, grammar)| *grammar);
    crate::parse::parse(language, grammar.expect("each language is in the table"), text)
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

impl<'de> Deserialize<'de> for &'static Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        Language::by_id(&id).ok_or_else(|| D::Error::custom(format!("unknown language `{id}`")))
    }
}
