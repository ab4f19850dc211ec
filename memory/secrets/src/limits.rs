//! Every limit of the search for secrets, with its unit last in the name.

/// Passes in which a text is searched for secrets: removing one may reveal another.
pub const SECRET_PASSES_MAX: usize = 4;
/// Length above which a name says nothing about the value next to it.
pub const SECRET_NAME_BYTES_MAX: usize = 200;
/// Length below which a value next to a word may be a secret; anything longer is data.
pub const SECRET_VALUE_BYTES_MAX: usize = 512;
/// Longest text between a name and its value.
pub const SECRET_LEAD_BYTES_MAX: usize = 160;
/// Longest token without a prefix.
pub const SECRET_SHAPE_BYTES_MAX: usize = 96;
/// Lines over which a token may be broken.
pub const SECRET_BROKEN_LINES_MAX: usize = 8;
/// Longest title above a secret.
pub const SECRET_TITLE_CHARS_MAX: usize = 60;
/// Rows of a table that are checked for each column of secrets.
pub const SECRET_TABLE_ROWS_MAX: usize = 50;
/// Bytes between the name of a secret and its sign, as in `password for staging:`.
pub const SECRET_OWNER_BYTES_MAX: usize = 48;
/// Letters of a word of a seed phrase.
pub const SEED_WORD_BYTES_MAX: usize = 8;
/// Bytes between two words of a seed phrase: a comma, a line break, a number.
pub const SEED_GAP_BYTES_MAX: usize = 8;
/// Longest block with a private key.
pub const KEY_BLOCK_BYTES_MAX: usize = 32 * 1024;
