//! Lessons made by rule: only those that teach something are in a load.

use std::sync::Arc;

use super::{Asked, loaded};
use crate::testing::{apply, captured_lesson, day, lesson, lessons, origin, save};
use crate::{FixedFailure, Kind, Memory, Reader, Record, Update, plan_update};

#[test]
fn a_fix_by_edits_alone_is_counted_until_it_is_seen_again() {
    let mut memory = Memory::default();
    let once = captured_lesson("pytest -q", "assert 401 == 200", day(1));
    let fixed = |command: &str, change: &dyn Fn(&mut FixedFailure)| {
        let mut lesson = captured_lesson(command, "it broke", day(2));
        change(lesson.captured.as_deref_mut().unwrap());
        lesson
    };
    let twice = fixed("make migrate", &|fixed| fixed.times = 2);
    let remedied = fixed("git push", &|fixed| fixed.remedy = Some("git pull".to_owned()));
    let pinned = captured_lesson("make pinned", "it broke", day(2));
    let written = lesson("Never rebase main", "Ask Iker.");
    let all = lessons([once, twice, remedied, pinned.clone(), written]);
    save(&mut memory, &origin("one", 1), all);
    let is_pinned = |record: &&Arc<Record>| record.body.own_texts().contains(&&*pinned.summary);
    let id = memory.active_of(Kind::Lesson).find(is_pinned).unwrap().id;
    let pin = Update { pinned: Some(true), ..Update::default() };
    let plan = plan_update(&memory, &Reader::anyone(), id, &pin, None, &origin("one", 2)).unwrap();
    apply(&mut memory, plan);

    let text = loaded(&memory, &Asked::default()).text;
    assert!(!text.contains("pytest"), "{text}");
    for shown in ["make migrate", "git push", "make pinned", "Never rebase main"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(text.contains("(3 of 4; all: memory_load"), "{text}");
    let mut only = Memory::default();
    let once = captured_lesson("pytest -q", "assert 401 == 200", day(1));
    save(&mut only, &origin("one", 1), lessons([once]));
    let text = loaded(&only, &Asked::default()).text;
    assert!(text.contains("## Lessons (0 of 1; all: memory_load"), "{text}");
    let alone = loaded(&memory, &Asked { sections: vec![Kind::Lesson], ..Asked::default() }).text;
    assert!(alone.contains("pytest"), "{alone}");
}
