//! Every limit of a fingerprint, with its unit last in the name.

/// Line hashes in a fingerprint. A longer range is sampled at equal distances.
pub const HASHES_MAX: usize = 64;

/// Lines with text on each side whose hashes a fingerprint has.
pub const CONTEXT_LINES_MAX: usize = 4;

/// Characters of a fingerprint as text.
pub const TEXT_CHARS_MAX: usize = 600;

/// Places of one line that are considered. A line that is more frequent identifies nothing.
pub const PLACES_MAX: usize = 8;

/// Exact copies of the lines in one file that are compared.
pub const COPIES_MAX: usize = 200;

/// Definitions of one file.
pub const DEFINITIONS_MAX: usize = 20_000;

/// Definitions of one name in a file that are compared.
pub const NAMESAKES_MAX: usize = 12;

/// Lines from a definition's first line to its body.
pub const HEAD_LINES_MAX: u32 = 40;
