//! The interface of a kind's fields to the code that handles records of any kind.

use serde_json::Value;

use super::MergeKey;
use crate::ids::Timestamp;
use crate::kinds::note::ContentType;
use crate::limits::PURGED_TEXT_BYTES_MIN;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

/// The texts that a search reads.
#[derive(Debug, Default)]
pub(crate) struct Searched<'a> {
    /// Texts. A phrase never spans two of them.
    pub(crate) texts: Vec<&'a str>,
    /// Paths of files.
    pub(crate) files: Vec<&'a str>,
}

/// The fields of a record of one kind. Methods with a body suit a kind that needs nothing special.
///
/// Methods that take a [`Record`] get the one that these fields are the body of.
pub(crate) trait Fields {
    /// Returns the property that two merging records share; `None` if no other merges with this
    /// one.
    fn key(&self) -> Option<MergeKey>;

    /// Returns the bytes of all text.
    fn text_bytes(&self) -> usize;

    /// Returns the words that name the record, such as its title.
    fn name(&self) -> String;

    /// Returns the name that somebody chose for the texts. It may tell that they are secrets.
    fn secret_name(&self) -> Option<&str> {
        None
    }

    /// Returns text that orders records with otherwise equal keys.
    fn order(&self) -> String {
        self.name()
    }

    /// Returns the texts that a search reads.
    fn searched(&self) -> Searched<'_>;

    /// Returns whether the record is about a file, or about one beneath this directory.
    fn concerns(&self, file: &str) -> bool {
        let within = |path: &str| path.strip_prefix(file).is_some_and(is_end_or_beneath);
        self.searched().files.into_iter().any(within)
    }

    /// Returns the text that may name the files that the record is about; empty if only its list of
    /// files counts.
    fn file_text(&self) -> String {
        String::new()
    }

    /// Returns whether its list of files may have directories and ends of paths.
    fn lists_directories(&self) -> bool {
        false
    }

    /// Returns the texts that are specific to the record. File names are left out, since many
    /// records have the same.
    fn own_texts(&self) -> Vec<&str>;

    /// Returns the other texts that somebody wrote.
    fn other_texts(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Returns the texts for the record's tombstones. Leaves out texts so short that the digest
    /// would reveal them.
    fn tombstone_texts(&self) -> Vec<String>;

    /// Returns the bytes from which a text is specific to the record.
    fn telling_bytes_min(&self) -> usize {
        PURGED_TEXT_BYTES_MIN
    }

    /// Returns whether a text of the record is long enough to be specific to it.
    fn is_telling(&self, text: &str) -> bool {
        text.len() >= self.telling_bytes_min()
    }

    /// Returns a text if it is long enough to be specific to the record.
    fn telling(&self, text: String) -> Vec<String> {
        if self.is_telling(text.trim()) { vec![text] } else { Vec::new() }
    }

    /// Leaves only what names a forgotten record. Returns false if there is nothing to leave out.
    fn shorten(&mut self) -> bool;

    /// Returns the text that is compared with prompts.
    fn prompt_text(&self) -> String;

    /// Returns the text that is compared with an error; empty if no such record helps with one.
    fn error_text(&self) -> String {
        String::new()
    }

    /// Returns the content type that the record counts as.
    fn content_type(&self) -> ContentType {
        ContentType::Prose
    }

    /// Returns the bytes by which the record's worth is measured.
    fn worth_bytes(&self) -> usize {
        self.text_bytes()
    }

    /// Replaces paths by those that `within` gives. Returns false if the record is about a file for
    /// which there is none.
    fn move_files(&mut self, _: &str, _: &dyn Fn(&str) -> Option<String>) -> bool {
        true
    }

    /// Returns the fields in the form in which a write stores them.
    ///
    /// # Errors
    /// Fails if a write would be refused.
    fn accepted(&self) -> Result<Body, Refusal>;

    /// Fills in what a shared file leaves out because it follows from the rest. `now` dates what
    /// has no time.
    fn complete(&mut self, _now: Timestamp) {}

    /// Returns the record in the form of zipmem's `state.json`.
    fn zipmem(&self, of: &Record) -> Value;

    /// Returns the record as a part of a page for people. `whole` is the text that agents get.
    fn page(&self, of: &Record, whole: &str, now: Timestamp) -> String;
}

/// Returns whether a path ends here or continues beneath.
fn is_end_or_beneath(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}
