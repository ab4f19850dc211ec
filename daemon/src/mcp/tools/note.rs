//! `memory_note`: stores one note or many, shared at once or private to the session.

use std::sync::Arc;

use anchord_memory::{FailedNote, NewNote, NotesOutcome, Refusal, WhyNot, render};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::params::{NoteParams, ScopeParams, importance};
use super::personal;
use crate::clock;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::context::{Budgets, Context};
use crate::mcp::error::ToolError;
use crate::mcp::input::{self, CallersNames, TextOr, UnknownFields};
use crate::mcp::tool::{Effect, ToolSpec};
use crate::outlines::FilesOf;

#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    content: Option<String>,
    key: Option<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    tags: Vec<String>,
    /// 1-10
    #[serde(default, deserialize_with = "importance")]
    #[schemars(with = "Option<u8>")]
    importance: Option<u8>,
    /// session: you alone; user: all projects
    scope: Option<ScopeParams>,
    /// 30d, 12h or 2026-12-01
    expires: Option<String>,
    #[serde(default)]
    pinned: bool,
    /// Many: objects of these fields
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    items: Value,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::new(
        "memory_note",
        "Store anything worth having again, at once: a decision, error, requirement, file content. With a key: a \
         fact.",
        Effect::Adds,
        run,
    )
}

async fn run(context: Context, params: Params) -> Result<ToolAnswer, ToolError> {
    let Params { content, key, summary, tags, importance, scope, expires, pinned, items } = params;
    let loose = key.is_some() || importance.is_some() || expires.is_some() || pinned;
    if content.is_none() && (loose || !summary.is_empty() || !tags.is_empty()) {
        let why = "content is missing; what is meant for items stands in each of them";
        return Err(ToolError::failed("note", why));
    }
    let alone = content.map(|content| NoteParams {
        content,
        key,
        summary,
        tags,
        importance,
        expires,
        pinned,
        scope: None,
    });
    let now = clock::now();
    let first = alone.map(|note| note.into_note(now));
    let own = usize::from(first.is_some());
    let mut ignored = UnknownFields::default();
    let mut names = Vec::new();
    // Agents fill in every field that they know of, also those that they do not need.
    let is_blank = items.as_str().is_some_and(|text| text.trim().is_empty());
    let items = if is_blank { Value::Null } else { items };
    let others = input::items(items).into_iter().enumerate().map(|(at, item)| {
        let place = format!("items[{at}]");
        let (note, unknown, callers) = input::read_named::<TextOr<NoteParams>>(item, &place);
        ignored.extend(unknown);
        names.push(callers);
        let note = note.map(NoteParams::from).map_err(Refusal::from);
        let note = note.and_then(|note| note.into_note(now));
        note.map_err(|refusal| refusal.of_item("items", own + at))
    });
    let private = scope == Some(ScopeParams::Session);
    let personal = scope == Some(ScopeParams::User) || context.session.is_in_personal();
    let at_home = scope.is_none() && personal::is_at_home(&context).await;
    let scoped = |note: NewNote| NewNote {
        private: note.private || private,
        personal: note.personal || personal || (at_home && !note.private),
        ..note
    };
    let mut notes: Vec<Result<NewNote, Refusal>> =
        first.into_iter().chain(others).map(|note| note.map(scoped)).collect();
    if !personal && !at_home {
        of_files(&context, notes.iter_mut().flatten()).await?;
    }
    let (of_user, of_project): (Vec<&NewNote>, Vec<&NewNote>) =
        notes.iter().flatten().partition(|note| note.personal);
    let (is_of_user, is_of_project) = (!of_user.is_empty(), !of_project.is_empty());
    let call = Call { own, names: names.into(), is_single: notes.len() == 1 };
    let as_called = {
        let call = call.clone();
        move |refusal| call.word(refusal)
    };
    let answer = match (is_of_user, is_of_project) {
        (false, _) => {
            context
                .note(notes, as_called, |outcome, budgets| reply(&call, outcome, budgets))
                .await?
        }
        (true, false) => {
            let words = |outcome: &_, budgets: &_| reply_to_user(&call, outcome, budgets);
            context.personal().note(notes, as_called, words).await?
        }
        (true, true) => {
            let why = "some items have scope user and others have not; they go to two memories, so \
                        send them in two calls";
            return Err(ToolError::failed("note", why));
        }
    };
    Ok(ToolAnswer { unknown: ignored, ..answer })
}

/// A call's notes, for refusals.
#[derive(Clone)]
struct Call {
    /// The number of notes that the call itself is, 0 or 1. They precede the items.
    own: usize,
    /// The caller's names for the fields of each item.
    names: Arc<[CallersNames]>,
    /// Whether it has only one note.
    is_single: bool,
}

impl Call {
    /// Words a refusal of the whole call.
    fn word(&self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::NoNoteStored { failed, first } => {
                Refusal::NoNoteStored { failed, first: Box::new(self.word(*first)) }
            }
            refusal => match refusal.item_at() {
                Some(at) => self.word_note(refusal, at, true),
                None if self.is_single => self.word_note(refusal, 0, true),
                None => refusal,
            },
        }
    }

    /// Words the refusal of a note with the caller's names. `with_item` also names its item.
    fn word_note(&self, refusal: Refusal, at: usize, with_item: bool) -> Refusal {
        let Some(at) = at.checked_sub(self.own) else { return refusal.of_call() };
        let names = self.names.get(at);
        let refusal = names.map_or(refusal.clone(), |names| names.rename(refusal));
        if with_item { refusal.of_item("items", at) } else { refusal }
    }

    /// Renders the lines about the notes.
    fn lines(&self, outcome: &NotesOutcome) -> String {
        let failed = outcome.failed.iter().cloned().map(|FailedNote { at, why }| {
            let why = match why {
                WhyNot::Refused(refusal) => WhyNot::Refused(self.word_note(refusal, at, false)),
                worded @ WhyNot::Worded(_) => worded,
            };
            FailedNote { at, why }
        });
        let failed = failed.collect();
        render::notes(&NotesOutcome { failed, ..outcome.clone() }, self.own)
    }
}

/// Makes a note whose key is the path of a project's file that file's summary. It gets the path as
/// records name it, and the digest of the file as it is.
async fn of_files(
    context: &Context,
    notes: impl Iterator<Item = &mut NewNote>,
) -> Result<(), ToolError> {
    for note in notes {
        let Some(key) = note.key.as_deref().filter(|key| key.contains(['/', '.'])) else {
            continue;
        };
        let place = context.session.place(&context.sessions).await?;
        let Some(root) = place.root() else { return Ok(()) };
        let files = FilesOf { root, repository: place.repository() };
        match context.outlines.digest(files, key).await {
            Ok(Some(file)) => {
                note.key = Some(file.path);
                note.file_digest = Some(file.digest.as_str().to_owned());
            }
            // A key that names no file that may be read is a key like any other.
            Ok(None) => {}
            Err(timeout) => {
                tracing::warn!(%timeout, "notes are kept without the digests of their files");
                return Ok(());
            }
        }
    }
    Ok(())
}

fn reply_to_user(call: &Call, outcome: &NotesOutcome, budgets: &Budgets) -> String {
    let (notes, tokens) = outcome.shared;
    let line = render::budget(tokens, notes, &budgets.project.budget);
    format!("{}The user's own notes. {line}\n", call.lines(outcome))
}

fn reply(call: &Call, outcome: &NotesOutcome, budgets: &Budgets) -> String {
    let mut text = call.lines(outcome);
    if outcome.stored.iter().any(|note| !note.private) {
        let (notes, tokens) = outcome.shared;
        let line = render::budget(tokens, notes, &budgets.project.budget);
        text.push_str(&line);
        text.push('\n');
    }
    if outcome.stored.iter().any(|note| note.private) {
        let (notes, tokens) = outcome.own;
        let line = render::budget(tokens, notes, &budgets.session.budget);
        text.push_str("Your own notes. ");
        text.push_str(&line);
        text.push('\n');
    }
    text
}
