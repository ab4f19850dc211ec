//! Short builders for tests, and strategies whose small alphabets make items collide.

use proptest::prelude::*;

use crate::kinds::each_kind;
use crate::rules::{Effect, Matches};
use crate::{
    Anchor, Blueprint, Category, Change, FixedFailure, Kind, Lesson, Memory, NewNote, NoticeCause,
    Plan, Provenance, Reader, Rule, Save, Seq, SessionId, Staged, Standing, Timestamp,
    plan_checkpoint, plan_forget, plan_keep, plan_save,
};

/// Noon of a day in November 2026.
pub(crate) fn day(day: i64) -> Timestamp {
    // 2026-11-01T12:00:00Z
    Timestamp(1_793_534_400_000 + (day - 1) * 86_400_000)
}

pub(crate) fn origin(session: &str, on: i64) -> Provenance {
    Provenance::new(SessionId::new(session), "claude-code".into(), day(on))
}

pub(crate) fn blueprint(title: &str, content: &str) -> Blueprint {
    Blueprint::new(Category::Decision, title.to_owned(), content.to_owned())
}

pub(crate) fn mutable(title: &str, content: &str) -> Blueprint {
    Blueprint { immutable: false, ..blueprint(title, content) }
}

pub(crate) fn anchor(file: &str, lines: &str, concept: &str) -> Anchor {
    Anchor::new(file.to_owned(), lines.to_owned().into(), concept.to_owned())
}

pub(crate) fn lesson(summary: &str, detail: &str) -> Lesson {
    Lesson { summary: summary.to_owned(), detail: detail.to_owned(), ..Lesson::default() }
}

/// Creates a lesson recorded by rule.
pub(crate) fn captured_lesson(command: &str, error: &str, last: Timestamp) -> Lesson {
    let captured = FixedFailure {
        command: command.to_owned(),
        error: error.to_owned(),
        remedy: None,
        times: 1,
        last,
    };
    let summary = format!("`{command}` failed with `{error}`: passed after editing a.rs");
    let files = vec!["a.rs".to_owned()];
    Lesson { captured: Some(Box::new(captured)), files, ..lesson(&summary, "") }
}

pub(crate) fn note(content: &str) -> NewNote {
    NewNote { content: content.to_owned(), ..NewNote::default() }
}

pub(crate) fn blueprints(blueprints: impl Into<Vec<Blueprint>>) -> Staged {
    Staged { blueprints: blueprints.into(), ..Staged::default() }
}

pub(crate) fn anchors(anchors: impl Into<Vec<Anchor>>) -> Staged {
    Staged { anchors: anchors.into(), ..Staged::default() }
}

pub(crate) fn lessons(lessons: impl Into<Vec<Lesson>>) -> Staged {
    Staged { lessons: lessons.into(), ..Staged::default() }
}

/// Applies a plan as the next entry and returns its outcome.
pub(crate) fn apply<O>(memory: &mut Memory, plan: Plan<O>) -> O {
    memory.apply(Seq(memory.seq().0 + 1), &plan.changes);
    plan.outcome
}

pub(crate) fn save(memory: &mut Memory, by: &Provenance, part: Staged) -> crate::SaveOutcome {
    let started = by.time;
    let save = Save { started, session_summary: "worked", part, ..Save::default() };
    let plan = plan_save(memory, by, save).unwrap();
    apply(memory, plan)
}

pub(crate) fn checkpoint(memory: &mut Memory, by: &Provenance, part: Staged) {
    let plan = plan_checkpoint(memory, by, part).unwrap();
    apply(memory, plan);
}

/// Items of a kind that sessions stage, for the tests of all kinds. A kind's module has its own.
pub(crate) trait Sample: Sized {
    /// Makes any item.
    fn any() -> BoxedStrategy<Self>;

    /// Makes an item with a text of so many bytes, or of as many as the kind accepts.
    fn of_size(name: &str, bytes: usize) -> Self;
}

macro_rules! samples {
    ($($(#[$doc:meta])* $kind:ident $module:ident $field:ident $(as $item:ident)?,)*) => {
        fn any_items() -> BoxedStrategy<Staged> {
            let part = Just(Staged::default()).boxed();
            $($(
                let items = prop::collection::vec(crate::kinds::$item::any(), 0..5);
                let part = (part, items).prop_map(|(part, $field)| Staged { $field, ..part });
                let part = part.boxed();
            )?)*
            part
        }

        /// Makes an item of each kind that sessions stage.
        pub(crate) fn each_item(name: &str, bytes: usize) -> Vec<(Kind, Staged)> {
            vec![$($({
                let $field = vec![crate::kinds::$item::of_size(name, bytes)];
                (Kind::$kind, Staged { $field, ..Staged::default() })
            },)?)*]
        }
    };
}

each_kind!(samples);

pub(crate) fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "the", "cache", "is", "slow", "Never", "a", "lock", "wäre", "🦀.",
        ]),
        1..5,
    )
    .prop_map(|words| words.join(" "))
}

pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let block = prop::collection::vec(words(), 1..4).prop_map(|lines| lines.join("\n"));
    prop::collection::vec(block, 1..3).prop_map(|blocks| blocks.join("\n\n"))
}

/// A part of a session's work, never empty.
pub(crate) fn any_part() -> impl Strategy<Value = Staged> {
    let summary = prop_oneof![Just(None), words().prop_map(Some)];
    let part = (summary, any_items()).prop_map(|(summary, items)| Staged { summary, ..items });
    part.prop_filter("a checkpoint has something in it", |part| {
        crate::staged::accept(part.clone(), &crate::WriteLimits::default())
            .is_ok_and(|part| !part.is_empty())
    })
}

/// One operation on a memory.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Checkpoint(&'static str, Staged),
    Save(&'static str, Staged),
    Keep(&'static str, bool),
    Forget(usize),
}

pub(crate) fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let session = || prop::sample::select(vec!["one", "two", "three"]);
    let step = prop_oneof![
        3 => (session(), any_part()).prop_map(|(session, part)| Step::Checkpoint(session, part)),
        3 => (session(), any_part()).prop_map(|(session, part)| Step::Save(session, part)),
        1 => (session(), any::<bool>()).prop_map(|(session, crash)| Step::Keep(session, crash)),
        1 => any::<usize>().prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 0..8)
}

/// Returns the reader that may forget a record: its own session if it is private, else anyone.
fn owner_of(memory: &Memory, id: crate::RecordId) -> Reader {
    let owner = memory.record(id).and_then(|record| record.owner());
    owner.map_or_else(Reader::anyone, |owner| Reader::session(owner.clone()))
}

/// Carries out the steps, each on a day of its own. Also returns the entries.
pub(crate) fn take(steps: &[Step]) -> (Memory, Vec<Vec<Change>>) {
    let mut memory = Memory::default();
    // The index is built now, so it follows the entries.
    memory.search();
    let mut entries = Vec::new();
    for (on, step) in (1..).zip(steps) {
        let changes = changes_of(&memory, step, on);
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        entries.push(changes);
    }
    (memory, entries)
}

/// Returns the changes of one step on a day.
pub(crate) fn changes_of(memory: &Memory, step: &Step, on: i64) -> Vec<Change> {
    match step {
        Step::Checkpoint(session, part) => {
            plan_checkpoint(memory, &origin(session, on), part.clone()).unwrap().changes
        }
        Step::Save(session, part) => {
            let session_summary = "worked";
            let save = Save { session_summary, part: part.clone(), ..Save::default() };
            plan_save(memory, &origin(session, on), save).unwrap().changes
        }
        Step::Keep(session, crash) => {
            let files = vec!["src/a.rs".to_owned()];
            let cause = match crash {
                true => NoticeCause::Crashed { files, more: 1 },
                false => NoticeCause::Ended,
            };
            let by = origin("anchord", on);
            plan_keep(memory, &SessionId::new(*session), &by, cause, false)
                .map_or_else(Vec::new, |plan| plan.changes)
        }
        Step::Forget(which) => {
            let ids: Vec<_> = memory.records().map(|record| record.id).collect();
            match ids.get(which % ids.len().max(1)) {
                Some(id) => {
                    plan_forget(memory, &owner_of(memory, *id), *id, None, &origin("one", on))
                        .unwrap()
                        .changes
                }
                None => Vec::new(),
            }
        }
    }
}

/// Creates the user's own memory with these notes.
pub(crate) fn personal(notes: impl IntoIterator<Item = NewNote>) -> Memory {
    let mut memory = Memory::default();
    for (at, note) in notes.into_iter().enumerate() {
        let on = 1 + i64::try_from(at).unwrap();
        let note = NewNote { personal: true, ..note };
        let plan = crate::plan_notes(&memory, &origin("one", on), vec![Ok(note)]).unwrap();
        apply(&mut memory, plan);
    }
    memory
}

/// Returns a rule that denies a forced push.
pub(crate) fn rule(title: &str, reason: &str) -> Rule {
    Rule {
        title: title.to_owned(),
        reason: reason.to_owned(),
        effect: Effect::Deny,
        matches: Matches { commands: vec!["git push --force".to_owned()], ..Matches::default() },
        windows: Vec::new(),
        expires: None,
        fail_closed: false,
        standing: Standing::Proposed,
    }
}
