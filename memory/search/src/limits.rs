//! Every limit of the search, with its unit last in the name.

/// Characters of a query that are read.
pub const QUERY_CHARS_MAX: usize = 2_000;
/// Terms of a query that are searched.
pub const QUERY_TERMS_MAX: usize = 64;
/// Terms of a query that are corrected if nothing is found.
pub const CORRECTED_TERMS_MAX: usize = 8;
/// Bytes of a word that are significant in a search.
pub const SEARCH_TERM_BYTES_MAX: usize = 64;
/// Long texts whose passages one search reads, the most promising first. Texts read to decide what
/// need not be added are not counted. Each text takes about five microseconds.
pub const SEARCH_LONG_TEXTS_MAX: usize = 100;
/// Words whose stems are remembered on one thread.
pub const SEARCH_MEMO_WORDS_MAX: usize = 16_384;
/// Words kept with their terms on one thread while many documents are read.
pub const SEARCH_LEXICON_WORDS_MAX: usize = 65_536;
