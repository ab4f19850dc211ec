//! An outline as a value.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::language::Language;

/// The structure of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The form of the file's content.
    pub form: Form,
    /// The number of the file's lines.
    pub lines: u32,
    /// The number of the file's bytes.
    pub bytes: u64,
    /// The tokens that the whole text takes.
    pub tokens: u32,
    /// The imports, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Import>,
    /// The items in the order of the file. An item is followed by the items that it contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// The number of items and imports beyond the limits.
    #[serde(default)]
    pub left_out: u32,
    /// Whether the parser skipped a part that does not follow the grammar, so that items may be
    /// missing.
    #[serde(default)]
    pub has_gaps: bool,
}

/// The form of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A language that has a grammar.
    Code(&'static Language),
    /// Other text.
    Text,
    /// A binary file of this type.
    Binary(String),
}

/// An import, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// Its text on one line.
    pub text: String,
}

/// A part of a file that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The kind of item.
    pub kind: ItemKind,
    /// The name as it is written.
    pub name: String,
    /// The declaration without its body, on one line. It has no values of constants or keys.
    pub signature: String,
    /// The first line, from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The line that has the name.
    pub line: u32,
    /// The number of items around it.
    pub depth: u16,
    /// The first sentence of its documentation; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// A digest of its text without the items inside it.
    pub digest: u64,
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A function.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A structure.
    Struct,
    /// A class.
    Class,
    /// An enumeration.
    Enum,
    /// An interface, trait or protocol.
    Interface,
    /// Another type, or another name for one.
    Type,
    /// A block that adds members to a type.
    Impl,
    /// A module or namespace.
    Module,
    /// A macro.
    Macro,
    /// A constant or variable.
    Variable,
    /// A property of a type.
    Property,
    /// A table, view, index or other object of a database.
    Object,
    /// A key of a data file.
    Key,
    /// A section under a heading.
    Section,
    /// A block of a text without headings.
    Block,
}

impl ItemKind {
    /// Returns whether functions inside such an item are its methods.
    pub fn has_methods(self) -> bool {
        matches!(
            self,
            Self::Struct | Self::Class | Self::Enum | Self::Interface | Self::Type | Self::Impl
        )
    }

    /// Returns whether the item is a function or method.
    pub fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }

    /// Returns the kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Struct => "struct",
            Self::Class => "class",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Impl => "impl",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Variable => "variable",
            Self::Property => "property",
            Self::Object => "object",
            Self::Key => "key",
            Self::Section => "section",
            Self::Block => "block",
        }
    }
}

impl Outline {
    /// Creates the outline of a binary file.
    pub fn of_binary(kind: &str, bytes: u64) -> Self {
        Self {
            form: Form::Binary(kind.to_owned()),
            lines: 0,
            bytes,
            tokens: 0,
            imports: Vec::new(),
            items: Vec::new(),
            left_out: 0,
            has_gaps: false,
        }
    }

    /// Applies a function to every text that comes from the file, such as one that removes secrets.
    pub fn map_texts(&mut self, change: impl Fn(&mut String)) {
        for item in &mut self.items {
            change(&mut item.name);
            change(&mut item.signature);
            change(&mut item.doc);
        }
        self.imports.iter_mut().for_each(|import| change(&mut import.text));
    }
}

/// Digests the parts of a text. Equal digests mean equal texts for the purpose of a comparison.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// Puts a text on one line of at most `chars_max` characters. Control characters become blanks.
pub fn clip(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut chars = 0_usize;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
            chars += 1;
        }
        for char in word.chars() {
            if chars >= chars_max {
                line.pop();
                line.push('…');
                return line;
            }
            line.push(char);
            chars += 1;
        }
    }
    line
}

/// Returns a number of lines or the like as the outline has it.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
