//! Hashes of lines. They are the same on every machine, since they are kept.

/// The hash of a line without text.
pub(crate) const BLANK: u64 = 0;

/// Lines that stand in many functions, so that they identify nothing.
const FREQUENT: &[&str] = &[
    "#else",
    "#endif",
    "break;",
    "continue",
    "continue;",
    "default:",
    "else {",
    "else:",
    "finally:",
    "return",
    "return NULL;",
    "return None",
    "return false;",
    "return null;",
    "return self",
    "return true;",
    "return;",
    "unsafe {",
    "} else {",
];

/// Letters and digits that a line must have at least to identify something.
const TELLING: usize = 5;

/// Returns the hash of a line. Lines that differ in white space alone have the same.
pub(crate) fn line(text: &str) -> u64 {
    let mut hash = Fnv::new();
    let mut words = text.split_ascii_whitespace();
    let Some(first) = words.next() else { return BLANK };
    hash.write(first.as_bytes());
    let mut telling = telling(first);
    for word in words {
        hash.write(b" ");
        hash.write(word.as_bytes());
        telling += self::telling(word);
    }
    let tells = telling >= TELLING && !is_frequent(text.trim_ascii());
    // The highest byte is never zero, so that no line with text is blank.
    let hash = (hash.finish() | 1 << 63) & !(1 << 32);
    if tells { hash | 1 << 32 } else { hash }
}

/// Returns the part of a line's hash that is kept. Zero is a blank line.
pub(crate) fn short(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(u32::MAX)
}

/// Returns whether a line identifies something, by the hash that is kept.
pub(crate) fn tells(short: u32) -> bool {
    short & 1 == 1
}

/// Returns the hash of a name.
pub(crate) fn name(text: &str) -> u32 {
    short(line(text)) | 1
}

/// Returns one hash of several.
pub(crate) fn all(hashes: impl IntoIterator<Item = u64>) -> u64 {
    let mut all = Fnv::new();
    hashes.into_iter().for_each(|hash| all.write(&hash.to_le_bytes()));
    all.finish()
}

fn telling(word: &str) -> usize {
    word.bytes().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count()
}

fn is_frequent(line: &str) -> bool {
    FREQUENT.binary_search(&line).is_ok()
}

/// FNV-1a with 64 bits, and the finalizer of splitmix64 so that every bit depends on all.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(self) -> u64 {
        let mut hash = self.0;
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ hash >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::{BLANK, FREQUENT, line, short, tells};

    #[test]
    fn white_space_makes_no_difference() {
        assert_eq!(line("  let a =  1;\t\r"), line("let a = 1;"));
        assert_ne!(line("let a = 1;"), line("let a = 2;"));
        assert_ne!(line("let ab"), line("leta b"));
        assert_eq!(line(" \t\r"), BLANK);
        assert_ne!(short(line("}")), 0);
    }

    #[test]
    fn brackets_and_frequent_lines_identify_nothing() {
        assert!(FREQUENT.is_sorted());
        for text in ["}", "});", "", "  return None", "} else {", "do", "end"] {
            assert!(!tells(short(line(text))), "{text:?}");
        }
        for text in ["let limit = 4;", "return self.value", "größe"] {
            assert!(tells(short(line(text))), "{text:?}");
        }
    }

    #[test]
    fn a_hash_never_changes_since_it_is_kept() {
        assert_eq!(line("fn main() {"), line(" fn  main() {"));
        assert_eq!(format!("{:016x}", line("fn main() {")), "d08018bdf24c8beb");
    }
}
