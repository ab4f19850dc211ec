//! Words that need quotes.

use super::*;

#[test]
fn shell_words_are_quoted_where_needed() {
    assert_eq!(shell_word("/usr/bin/anchord"), "/usr/bin/anchord");
    assert_eq!(shell_word("/my tools/it's"), r"'/my tools/it'\''s'");
    assert_eq!(shell_word(""), "''");
    assert_eq!(shell_line(["run", "a b"]), "run 'a b'");
}
