//! Replies to writes: the outcome, and what the caller may want to do about it.

use super::append;
use super::size;
use super::written::{AddReply, ForgetReply, UpdateReply};
use crate::audience::Audience;
use crate::draft::KeptBlueprint;
use crate::fold::{one_line, with_block};
use crate::ids::Kind;
use crate::import::ImportOutcome;
use crate::kinds::{UnseenCode, WhyUnseen};
use crate::limits::{
    ACTIVE_TEXT_SOFT_BYTES_MAX, CONTRADICTIONS_NAMED_MAX, LOST_COMMITS_NAMED_MAX, UNSEEN_NAMED_MAX,
};
use crate::overtaken::Overtaken;
use crate::plan::{CheckpointOutcome, Contradiction, NoteOutcome, NotesOutcome, SaveOutcome};
use crate::staged::Counts;

/// Renders the reply to `memory_checkpoint`.
pub fn checkpoint(outcome: &CheckpointOutcome) -> String {
    let pending = if outcome.pending == Counts::default() {
        "a summary".to_owned()
    } else {
        outcome.pending.to_string()
    };
    let mut text = format!("Staged. Pending until memory_save: {pending}.\n");
    text.push_str(&kept(&outcome.kept));
    text.push_str(&contradictions(&outcome.contradicts));
    text.push_str(&unseen_code("Staged", &outcome.unseen));
    text
}

/// The condition under which a save that waits is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedOnce {
    /// The team's database is away, and is back.
    Back,
    /// It answers, and takes the save. That may be from a member that may not write.
    Taken,
    /// A person mends what keeps this machine from using it.
    Mended,
}

/// Renders the reply to a save that waits for the team's database.
pub fn save_waits(why: &str, once: SharedOnce) -> String {
    let (until, tell) = match once {
        SharedOnce::Back => ("when the database is back", ""),
        SharedOnce::Taken => ("once the team's database takes it", ""),
        SharedOnce::Mended => {
            ("once a person has mended this", "That does not pass by itself: tell the person.\n")
        }
    };
    format!(
        "Kept here, shared {until}. Nothing is lost: do not save this again.\n\
         The team's database does not take it now: {why}.\n{tell}"
    )
}

/// The reply to a save that is held, and that this machine could not pass on to the team.
pub const SAVE_WAITS_HERE: &str = "Kept here, shared as soon as this machine can pass it on. Nothing \
    is lost: do not save this again.\n";

/// Tells an agent that a save which waited was folded, except for something.
pub fn save_later(outcome: &SaveOutcome) -> Option<String> {
    let left = kept(&outcome.kept) + &overtaken(&outcome.overtaken);
    (!left.is_empty()).then(|| {
        let (row, revision) = (outcome.row, outcome.revision.0);
        format!("Your save that waited is shared now as {row}, revision {revision}. {left}")
    })
}

/// Tells an agent that a save which waited was refused, and why.
pub fn save_refused_later(why: &str) -> String {
    format!(
        "Your save that waited for the team's database was refused: {why}\n\
         What it had is staged again: look at what changed, then memory_save it again.\n"
    )
}

/// Counts the messages about saves and lost commits that had no room. Empty if all had.
pub fn told_more(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    format!("And {count} more: memory_load has what is shared, memory_status what is staged.\n")
}

/// Tells an agent which commits of its session the team's database has lost, a line each. `file`
/// has them.
pub fn commits_lost(lost: &[String], file: &str) -> String {
    let mut text = "The team's database was set back, and has lost what you wrote:\n".to_owned();
    for commit in lost.iter().take(LOST_COMMITS_NAMED_MAX) {
        append(&mut text, format_args!("- {commit}\n"));
    }
    match lost.len().saturating_sub(LOST_COMMITS_NAMED_MAX) {
        0 => {}
        more => append(&mut text, format_args!("- {more} more\n")),
    }
    append(
        &mut text,
        format_args!(
            "{file} has it. Find what is there now (memory_search), since ids may name other \
             records, and write again what is missing.\n"
        ),
    );
    text
}

/// Renders the reply to `memory_save`.
pub fn save(outcome: &SaveOutcome) -> String {
    let with_added = |(kind, added): (Kind, u32)| match (outcome.active.of(kind), added) {
        (0, _) => None,
        (total, 0) => Some(kind.count(total)),
        (total, added) => Some(format!("{} (+{added})", kind.count(total))),
    };
    let added = outcome.added;
    let written = Kind::ALL.into_iter().filter(|kind| *kind != Kind::SessionRow);
    let counts: Vec<String> = written
        .map(|kind| (kind, added.of(kind)))
        .filter_map(with_added)
        .chain([Kind::SessionRow.count(outcome.active.of(Kind::SessionRow))])
        .collect();
    let mut text = format!(
        "Saved as {}, revision {}: {}; {}.\n",
        outcome.row,
        outcome.revision.0,
        counts.join(", "),
        size::bytes(outcome.text_bytes),
    );
    if outcome.merged > 0 {
        append(&mut text, format_args!("{} merged into what was there.\n", outcome.merged));
    }
    if outcome.replaced > 0 {
        append(&mut text, format_args!("{} replaced what was there.\n", outcome.replaced));
    }
    text.push_str(&kept(&outcome.kept));
    text.push_str(&overtaken(&outcome.overtaken));
    text.push_str(&contradictions(&outcome.contradicts));
    text.push_str(&unseen_code("Stored", &outcome.unseen));
    let archived = outcome.archived;
    let parts: Vec<String> = [
        (archived.anchors, Kind::Anchor, " whose file is gone"),
        (archived.topics, Kind::Topic, " of past sessions"),
        (archived.rows, Kind::SessionRow, " folded into one"),
        (archived.lessons, Kind::Lesson, " that were oldest"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, kind, why)| kind.count(count.into()) + why)
    .collect();
    if !parts.is_empty() {
        append(&mut text, format_args!("Archived: {}.\n", parts.join(", ")));
    }
    if outcome.text_bytes > ACTIVE_TEXT_SOFT_BYTES_MAX {
        text.push_str(&size::nudge(&Audience::Agent));
    }
    text
}

/// Renders the reply to `memory_note`: one line per note, the failed ones last. The first `own`
/// notes are of the call itself, and the others are its items.
pub fn notes(outcome: &NotesOutcome, own: usize) -> String {
    let mut text = String::new();
    for note in &outcome.stored {
        let verb = match note.effect {
            NoteOutcome::New => "Stored",
            NoteOutcome::Replaced => "Replaced",
            NoteOutcome::Repeated => "Had already",
        };
        let version = match note.version.0 {
            1 => String::new(),
            version => format!(", version {version}"),
        };
        let tags: String = note.tags.iter().map(|tag| format!(" #{tag}")).collect();
        append(
            &mut text,
            format_args!("{verb} {} ({}{version}){tags}\n", note.id, tokens(note.tokens)),
        );
    }
    for note in &outcome.failed {
        match note.at.checked_sub(own) {
            Some(at) => append(&mut text, format_args!("FAILED item {at}: {}\n", note.why)),
            None => append(&mut text, format_args!("FAILED the call's own: {}\n", note.why)),
        }
    }
    if !outcome.failed.is_empty() {
        let (stored, failed) = (outcome.stored.len(), outcome.failed.len());
        append(
            &mut text,
            format_args!("{stored} stored, {failed} failed; send those again corrected.\n"),
        );
    }
    text
}

fn tokens(tokens: u32) -> String {
    if tokens == 1 { "1 token".to_owned() } else { format!("{tokens} tokens") }
}

/// Renders the reply to `anchord add`.
pub fn add(reply: &AddReply) -> String {
    let AddReply { added, merged, contradicts, unseen } = reply;
    let mut text = String::new();
    let lines = added.iter().map(|title| ("Added", title));
    for (verb, title) in lines.chain(merged.iter().map(|title| ("Merged into", title))) {
        append(&mut text, format_args!("{verb} {title}\n"));
    }
    if text.is_empty() {
        text.push_str("Nothing changes: it is stored already.\n");
    }
    for Contradiction { title, stored, stored_category, .. } in contradicts {
        append(
            &mut text,
            format_args!(
                "Same title, other content: {stored} [{}] \"{title}\". Both are kept; `anchord forget {stored}` takes the \
                 older one out.\n",
                stored_category.name()
            ),
        );
    }
    text.push_str(&unseen_code("Stored", unseen));
    text
}

/// Renders the reply to `memory_update`.
pub fn update(reply: &UpdateReply) -> String {
    let UpdateReply { version, title, .. } = reply;
    let verb = if reply.unchanged { "Was so already" } else { "Updated" };
    format!("{verb}, version {}: {title}\n", version.0)
}

/// Renders the reply to `memory_forget`.
pub fn forget(reply: &ForgetReply) -> String {
    let verb = if reply.already { "Was forgotten before" } else { "Forgotten, kept in history" };
    format!("{verb}: {}\n", reply.title)
}

/// Renders the outcome of an import, for `anchord import`.
pub fn import(outcome: &ImportOutcome) -> String {
    if let Some(records) = outcome.before {
        return format!("Imported before: {records} records came of it; nothing changes.\n");
    }
    let mut text =
        format!("New: {}, {}.\n", outcome.added, Kind::SessionRow.count(outcome.sessions.into()));
    if outcome.merged > 0 {
        append(&mut text, format_args!("{} merged into what is there.\n", outcome.merged));
    }
    if outcome.pending != Counts::default() {
        append(&mut text, format_args!("Staged there and not saved, kept: {}.\n", outcome.pending));
    }
    text.push_str(&kept(&outcome.kept));
    for note in &outcome.notes {
        append(&mut text, format_args!("Note: {note}.\n"));
    }
    text
}

/// Renders one line that names the blueprints left unchanged, and says once how to supersede them.
fn kept(kept: &[KeptBlueprint]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let names: Vec<String> = kept
        .iter()
        .map(|blueprint| match blueprint.id {
            Some(id) => format!("{id} \"{}\"", blueprint.title),
            None => format!("\"{}\" as staged before", blueprint.title),
        })
        .collect();
    format!(
        "Left as they were, since immutable: {}. To supersede one, write it again with immutable: false.\n",
        names.join(", ")
    )
}

/// Names what was staged and is older than what is stored, and says how to write it all the same.
pub(super) fn overtaken(overtaken: &[Overtaken]) -> String {
    if overtaken.is_empty() {
        return String::new();
    }
    let mut text =
        "Not replaced, since they were written after you staged yours. Write yours again \
                    if it still holds:\n"
            .to_owned();
    for it in overtaken {
        let is_named = it.id.kind != Kind::Topic && !it.name.is_empty();
        let name = if is_named { format!(" {}", one_line(&it.name)) } else { String::new() };
        let (first, rest) = it.text.split_once('\n').unwrap_or((&it.text, ""));
        let head = format!("- {}{name}; you staged: {first}", it.place());
        text.push_str(&with_block(head, rest, "  "));
        text.push('\n');
    }
    text
}

/// Names stored blueprints that contradict new ones, and says how to supersede them.
fn contradictions(found: &[Contradiction]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let named = found.iter().take(CONTRADICTIONS_NAMED_MAX).map(|found| {
        let (new, stored) = (found.category.name(), found.stored_category.name());
        format!("{} [{stored}] and the new [{new}] \"{}\"", found.stored, found.title)
    });
    let mut named: Vec<String> = named.collect();
    match found.len().saturating_sub(CONTRADICTIONS_NAMED_MAX) {
        0 => {}
        more => named.push(format!("{more} more pairs")),
    }
    format!(
        "Same title, other content: {}. Both are kept; to supersede the stored one, memory_forget it, or write it \
         again in its category with immutable: false.\n",
        named.join("; ")
    )
}

/// Says of which anchors the lines could not be read. `done` says what was done with the anchors.
fn unseen_code(done: &str, unseen: &[UnseenCode]) -> String {
    let why = |UnseenCode { file, lines, why }: &UnseenCode| match why {
        WhyUnseen::NoFile => format!("{file} does not exist"),
        WhyUnseen::FewerLines(1) => format!("{file} has only 1 line, not {lines}"),
        WhyUnseen::FewerLines(count) => format!("{file} has only {count} lines, not {lines}"),
        WhyUnseen::NotRead(why) => format!("failed to {why}"),
    };
    let mut whys: Vec<String> = unseen.iter().take(UNSEEN_NAMED_MAX).map(why).collect();
    whys.dedup();
    match unseen.len().saturating_sub(UNSEEN_NAMED_MAX) {
        0 => {}
        1 => whys.push("1 more anchor has lines that could not be read".to_owned()),
        more => whys.push(format!("{more} more anchors have lines that could not be read")),
    }
    if whys.is_empty() { String::new() } else { format!("{done}, but {}.\n", whys.join("; ")) }
}

#[cfg(test)]
mod tests;
