//! Outlines a file: its items with signatures, lines and the first sentence of their documentation,
//! its imports, and the difference between two outlines. It knows no records, does no I/O and reads
//! no clock.
//!
//! A language is one file in `languages/` and one line in its table. It says how its files are
//! recognised and, with the feature `grammars`, which nodes of tree-sitter's tree are items.
//! Without that feature this crate has the values, their comparison and their text. A text of no
//! known language is outlined by its headings or blocks, a binary by its type.

mod difference;
mod files;
mod language;
pub mod languages;
pub mod limits;
mod outline;
#[cfg(feature = "grammars")]
mod parse;
mod plain;
mod render;

pub use difference::{Difference, Moved, compare};
pub use files::{Content, content, is_secret_file};
pub use language::Language;
#[cfg(feature = "grammars")]
pub use languages::parse;
pub use outline::{Form, Import, Item, ItemKind, Outline, clip};
pub use plain::outline_text;
pub use render::{Rendered, View, render, render_difference};
