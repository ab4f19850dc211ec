//! Names of topics and of their files.
//!
//! Different topics have different files, also where a file system ignores case or spells accents
//! in another way. Letters, digits, spaces, `-`, `_` and single dots stay as they are. All else,
//! and a dot after a dot, is encoded like `%2F`. A name that is too long, or that a file system may
//! take for another one, is cut and gets `~` and a digest.

use sha2::{Digest, Sha256};
use unicode_normalization::is_nfc;

use crate::fold::{fold, one_line};
use crate::kinds::topic::topic_name;
use crate::limits::{TOPIC_FILE_STEM_BYTES_MAX, TOPIC_NAME_CHARS_MAX};

/// The beginning of the names of snap-memory's files.
pub const SNAP_PREFIX: &str = "context-";
/// The end of the names of all topic files.
const SUFFIX: &str = ".md";

/// Returns the name of a topic's file without its ending. It is one component of a path, does not
/// begin with a dot, and has at most [`TOPIC_FILE_STEM_BYTES_MAX`] bytes.
pub fn file_stem(topic: &str) -> String {
    let name = one_line(topic);
    let mut stem = String::with_capacity(name.len());
    for c in name.chars() {
        // A dot at the beginning would hide the file.
        let is_hidden = c == '.' && (stem.is_empty() || stem.ends_with('.'));
        if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.') && !is_hidden {
            stem.push(c);
        } else {
            stem.extend(c.to_string().bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    if !is_ambiguous(&name) && stem.len() <= TOPIC_FILE_STEM_BYTES_MAX && !stem.is_empty() {
        return stem;
    }
    let digest = format!("~{}", hex(&fold(&name), 8));
    stem.truncate(stem.floor_char_boundary(TOPIC_FILE_STEM_BYTES_MAX - digest.len()));
    stem + &digest
}

/// Returns whether a file system may take a name for another topic's. That is so if its accents
/// are spelled apart, or if it has a letter whose capital belongs to another letter, such as ß.
fn is_ambiguous(name: &str) -> bool {
    let is_stable = |c: char| c.to_uppercase().flat_map(char::to_lowercase).eq([c]);
    !is_nfc(name) || !fold(name).chars().all(is_stable)
}

/// Returns the name of a topic's file in snap-memory's folder: `context-cache.md`.
pub fn snap_file(topic: &str) -> String {
    format!("{SNAP_PREFIX}{}{SUFFIX}", file_stem(topic))
}

/// Returns the topic that a file of snap-memory names, as its users know it: `cache` for
/// `context-cache.md`. `title` is the title in the file, which tells the name that was encoded.
/// Returns `None` for another file.
pub fn given_name<'a>(file: &'a str, title: &'a str) -> Option<&'a str> {
    let stem = file.strip_prefix(SNAP_PREFIX)?.strip_suffix(SUFFIX)?;
    Some(if file_stem(title) == stem { title } else { stem })
}

/// Returns the topic for a name from snap-memory, where any text is a name. A character that topics
/// do not have becomes `-`, and the name begins with a letter or digit. A name that is too long is
/// cut and gets a digest.
pub fn snap_topic(given: &str) -> String {
    let given = one_line(given);
    let known = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/');
    let mapped: String = given.chars().map(|c| if known(c) { c } else { '-' }).collect();
    let mapped = mapped.trim_start_matches(|c: char| !c.is_alphanumeric());
    let name = if mapped.is_empty() { return distinct("topic", &given) } else { mapped };
    if name.chars().count() > TOPIC_NAME_CHARS_MAX {
        distinct(name, &given)
    } else {
        one_line(name)
    }
}

/// Returns a name with the digest of the name that it was made from.
pub fn distinct(name: &str, given: &str) -> String {
    let digest = hex(given, 4);
    let kept: String = name.chars().take(TOPIC_NAME_CHARS_MAX - digest.len() - 1).collect();
    let name = format!("{}-{digest}", kept.trim_end());
    debug_assert!(topic_name(&name).is_ok(), "{name} is a topic's name");
    name
}

fn hex(text: &str, bytes: usize) -> String {
    let mut hex = base16ct::lower::encode_string(&Sha256::digest(text));
    hex.truncate(2 * bytes);
    hex
}
