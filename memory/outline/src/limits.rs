//! Every limit of an outline, with its unit last in the name.

/// Items of one file. The others are counted.
pub const ITEMS_MAX: usize = 5_000;

/// Imports of one file. The others are counted as left out.
pub const IMPORTS_MAX: usize = 500;

/// Characters of a name.
pub const NAME_CHARS_MAX: usize = 120;

/// Characters of a signature.
pub const SIGNATURE_CHARS_MAX: usize = 240;

/// Characters of an import.
pub const IMPORT_CHARS_MAX: usize = 160;

/// Characters of the summary of an item's documentation.
pub const DOC_CHARS_MAX: usize = 120;

/// Levels of nesting that a data file is outlined to.
pub const KEY_LEVELS_MAX: usize = 3;

/// Blocks of a text without headings. A longer text gets longer blocks.
pub const BLOCKS_MAX: usize = 60;

/// Bytes at a file's beginning that decide whether it is text.
pub const SNIFF_BYTES_MAX: usize = 8 << 10;

/// Moved items that a comparison names. The others are counted.
pub const MOVED_MAX: usize = 40;
