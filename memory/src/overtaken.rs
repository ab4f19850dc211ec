//! Staged texts that change nothing when they are folded, since others wrote the same meanwhile.

use serde::{Deserialize, Serialize};

use crate::fold::digest;
use crate::ids::{Kind, RecordId};
use crate::kinds::MergeKey;
use crate::limits::OVERTAKEN_BYTES_MIN;
use crate::lines::Places;
use crate::memory::Memory;
use crate::record::{Anchor, Body};

/// The beginning of a line in a session's row that has a staged text which was not taken.
pub(crate) const NOT_TAKEN: &str = "Not taken, since ";

/// A staged text that left its record as it is, since the record was written after it was staged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overtaken {
    /// The record.
    pub id: RecordId,
    /// A blueprint's title, a fact's key, or the field of a topic.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The staged text. In a reply, a long one is cut.
    pub text: String,
}

impl Overtaken {
    /// Creates one of a blueprint.
    pub(crate) fn of_blueprint(id: RecordId, staged: &Body) -> Option<Self> {
        let Body::Blueprint(staged) = staged else { return None };
        Some(Self { id, name: staged.title.clone(), text: staged.content.clone() })
    }

    /// Names the text that was written later: `n1`, or `the status of t2`.
    pub(crate) fn place(&self) -> String {
        match self.id.kind {
            Kind::Topic if !self.name.is_empty() => format!("the {} of {}", self.name, self.id),
            _ => self.id.to_string(),
        }
    }

    /// Words it as a part of a session's row.
    pub(crate) fn not_taken(&self, why: &str) -> String {
        let apart = if self.text.contains('\n') { '\n' } else { ' ' };
        format!("{NOT_TAKEN}{} {why}:{apart}{}", self.place(), self.text)
    }

    /// Cuts texts so that all of them take about `bytes_max`. Each gets its part of the bytes that
    /// those before it left. A text that is cut says so.
    pub(crate) fn within(overtaken: Vec<Self>, bytes_max: usize) -> Vec<Self> {
        let (mut left, mut count) = (bytes_max, overtaken.len());
        let mut within = Vec::with_capacity(count);
        for one in overtaken {
            let share = (left / count.max(1)).max(OVERTAKEN_BYTES_MIN);
            let text = cut_to(one.text.trim(), share);
            left = left.saturating_sub(share.min(text.len()));
            count -= 1;
            within.push(Self { text, ..one });
        }
        within
    }
}

/// Notes the concept that is stored at the place of an anchor as it is staged, since others may
/// write another before it is folded.
pub(crate) fn note_concept(memory: &Memory, anchor: &mut Anchor) {
    anchor.before = Some(concepts_digest(&concepts_at(memory, anchor)));
}

/// Returns the anchors that a write of this one would replace, with their concepts.
pub(crate) fn concepts_at<'m>(memory: &'m Memory, anchor: &Anchor) -> Vec<(RecordId, &'m str)> {
    let mut places = places(memory, &anchor.file);
    let (_, mut met) = anchor.take_same(&mut places);
    met.sort_unstable();
    let concept = |id: RecordId| Some((id, memory.record(id)?.anchor()?.concept.as_str()));
    met.into_iter().filter_map(concept).collect()
}

/// Returns a digest of concepts, which is the same on every machine.
pub(crate) fn concepts_digest(concepts: &[(RecordId, &str)]) -> u64 {
    let concepts: Vec<&str> = concepts.iter().map(|(_, concept)| *concept).collect();
    digest(&concepts.join("\n"))
}

/// Returns the anchors of a file by their lines.
pub(crate) fn places(memory: &Memory, file: &str) -> Places<RecordId> {
    let mut places = Places::default();
    for record in memory.keyed(&MergeKey::anchor(file)) {
        if let Body::Anchor(anchor) = &record.body {
            places.put(&anchor.lines, record.id);
        }
    }
    places
}

/// Cuts a text to about `bytes_max`, and says so in a line at its end.
fn cut_to(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default().trim_end();
    format!("{kept}\n[cut here: {} of {} bytes]", kept.len(), text.len())
}
