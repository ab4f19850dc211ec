//! How many tokens a text has, roughly: a quarter of its bytes.

/// Tokens of a text.
pub fn count(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
}
