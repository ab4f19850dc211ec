//! Checks an agent's note and brings it into its stored form, and stages it.

use super::{NewNote, Scope};
use crate::fold::one_line;
use crate::ids::Timestamp;
use crate::intake::{WriteLimits, chars};
use crate::kinds::staging::absorb_by_key;
use crate::kinds::{FoldRule, MergeKey, StagedItem};
use crate::limits::{
    IMPORTANCE_MAX, KEY_CHARS_MAX, NOTE_BYTES_MAX, NOTE_SUMMARY_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX,
};
use crate::provenance::Provenance;
use crate::record::{Body, Record};
use crate::refusal::Refusal;

/// Advice for a field that is too long. The daemon names the content as its caller does.
const TO_CONTENT: &str = "put the rest in content";

/// Checks a note.
pub(crate) fn accept_note(mut note: NewNote) -> Result<NewNote, Refusal> {
    if note.content.trim().is_empty() {
        return Err(Refusal::invalid("content", "is empty"));
    }
    content_fits(&note.content)?;
    note.summary = summary_text(&note.summary)?;
    note.key = note.key.as_deref().map(new_key).transpose()?;
    note.tags = accept_tags(&note.tags)?;
    note.importance = note.importance.map(valid_importance).transpose()?;
    Ok(note)
}

/// Refuses a content that is too long.
pub(crate) fn content_fits(content: &str) -> Result<(), Refusal> {
    if content.len() <= NOTE_BYTES_MAX {
        return Ok(());
    }
    Err(Refusal::TooLarge {
        what: "content".into(),
        bytes: content.len(),
        bytes_max: NOTE_BYTES_MAX,
        advice: "keep the point and name the file that has the rest".into(),
    })
}

/// Brings a summary into its stored form.
pub(crate) fn summary_text(summary: &str) -> Result<String, Refusal> {
    let summary = summary.trim();
    fits("summary", summary, NOTE_SUMMARY_CHARS_MAX)?;
    Ok(summary.to_owned())
}

/// Brings a key into the form in which it is stored and looked up: on one line.
pub(crate) fn key_line(key: &str) -> Result<String, Refusal> {
    let key = one_line(key);
    if key.is_empty() {
        return Err(Refusal::invalid("key", "is empty"));
    }
    chars("key", &key, KEY_CHARS_MAX)?;
    Ok(key)
}

/// Checks the key of a new note.
fn new_key(key: &str) -> Result<String, Refusal> {
    let is_empty = one_line(key).is_empty();
    let advice = if is_empty { "leave it out for a note without one" } else { TO_CONTENT };
    key_line(key).map_err(|refusal| refusal.advising(advice))
}

/// Brings a tag into the form in which it is stored and shown: `#Rust ` becomes `rust`. Empty if
/// nothing is left.
pub fn tag_as_kept(tag: &str) -> String {
    one_line(tag).to_lowercase().trim_start_matches('#').to_owned()
}

/// Returns the tags of a text in their stored form. Agents write `rust, build` for two tags.
pub fn tags_as_kept(text: &str) -> impl Iterator<Item = String> {
    text.split(',').flat_map(|part| part.split(" #")).map(tag_as_kept).filter(|tag| !tag.is_empty())
}

/// Brings tags into their stored form: lower case, each once, in the order given.
pub(crate) fn accept_tags(tags: &[String]) -> Result<Vec<String>, Refusal> {
    let mut accepted: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags.iter().flat_map(|text| tags_as_kept(text)) {
        fits("tags", &tag, TAG_CHARS_MAX)?;
        if !accepted.contains(&tag) {
            accepted.push(tag);
        }
    }
    if accepted.len() > TAGS_MAX {
        let why = format!("has {} tags, {TAGS_MAX} are allowed", accepted.len());
        return Err(Refusal::invalid("tags", why));
    }
    Ok(accepted)
}

/// Checks that an importance is within its bounds.
pub(crate) fn valid_importance(importance: u8) -> Result<u8, Refusal> {
    if (1..=IMPORTANCE_MAX).contains(&importance) {
        return Ok(importance);
    }
    let advice = format!("give a number from 1 to {IMPORTANCE_MAX}");
    Err(Refusal::invalid("importance", format!("is {importance}")).advising(advice))
}

fn fits(field: &'static str, text: &str, chars_max: usize) -> Result<(), Refusal> {
    chars(field, text, chars_max).map_err(|refusal| refusal.advising(TO_CONTENT))
}

impl StagedItem for NewNote {
    fn accept(items: Vec<Self>, _: &WriteLimits) -> Result<Vec<Self>, Refusal> {
        let items = items.into_iter().enumerate();
        items
            .map(|(at, note)| accept_note(note).map_err(|refusal| refusal.of_item("notes", at)))
            .collect()
    }

    fn absorb(items: &mut Vec<Self>, later: &[Self], sent: Timestamp) -> Vec<Body> {
        let name = |note: &Self| {
            (note.private, note.key.clone(), note.key.is_none().then(|| note.content.clone()))
        };
        absorb_by_key(items, later, name, |_, staged, note| staged.unite(note, sent));
        Vec::new()
    }

    fn of_record(record: &Record, _: Option<&Record>, _: &Provenance) -> Option<Self> {
        let note = record.note()?;
        Some(Self {
            content: note.content.clone(),
            summary: note.summary.clone(),
            key: note.key.clone(),
            tags: record.tags.clone(),
            importance: Some(note.importance),
            expires: note.expires,
            lasts: false,
            pinned: record.pinned,
            private: false,
            personal: record.is_personal(),
            repeats: note.repeats,
            file_digest: note.file_digest.clone(),
            staged: None,
        })
    }

    fn rule(&self) -> FoldRule<'_> {
        FoldRule::Note(self)
    }

    fn bytes(&self) -> usize {
        self.record_bytes()
    }

    fn texts(&self) -> Vec<(&str, &str)> {
        let key = self.key.as_deref().unwrap_or_default();
        let own = [("", key), (key, self.content.as_str()), ("", &self.summary)];
        own.into_iter().chain(self.tags.iter().map(|tag| ("", tag.as_str()))).collect()
    }

    fn whole_texts(&self) -> Vec<(&'static str, String)> {
        vec![("", self.content.clone()), ("summary", self.summary.clone())]
    }

    /// The key and the scope do not matter, since another session may have staged the same.
    fn purge_key(&self) -> Option<MergeKey> {
        Some(MergeKey::note(&Scope::Project, None, &self.content))
    }
}

#[cfg(test)]
mod tests;
