//! Lessons recorded by rule are purged like others, and do not come back.

use super::*;

#[test]
fn a_captured_lesson_is_purged_with_its_activity() {
    let by = origin("s", 1);
    let error = "error: the planted value is held by nobody";
    let ran = |passed, output: &str| {
        let command = CommandRun::judge("make migrate".to_owned(), Some(passed), output);
        Event::ToolRan(ToolRun { command: Some(command), ..ToolRun::default() })
    };
    let recorded = |edited: &str| {
        let edited = vec![edited.to_owned()];
        let edit = Event::ToolRan(ToolRun { edited, ..ToolRun::default() });
        let mut recorded = SessionActivity::of("claude-code:1");
        for (event, at) in [ran(false, error), edit, ran(true, "")].iter().zip(1..) {
            recorded.saw(event, Timestamp(at));
        }
        recorded
    };
    let staged = plan_capture(&Memory::default(), &by, recorded("a.rs")).unwrap().changes;
    let mut journal: Journal = vec![(staged, None)];
    let cause = NoticeCause::Ended;
    let memory = replayed(&journal);
    let kept = plan_keep(&memory, &by.session, &by, cause.clone(), false).unwrap().changes;
    journal.push((kept, None));
    let lesson = replayed(&journal).active_of(Kind::Lesson).next().unwrap().id.to_string();
    assert!(text(&journal).contains(VALUE));
    for (ids, query) in [(vec![lesson.as_str()], None), (vec![], Some(VALUE))] {
        let (journal, _) = purged(&journal, &ids, query);
        assert!(!text(&journal).contains(VALUE), "{}", text(&journal));
        // The same failure does not leave the lesson again, even with a different fix.
        let by = origin("t", 2);
        let mut memory = replayed(&journal);
        apply(&mut memory, plan_capture(&replayed(&journal), &by, recorded("b.rs")).unwrap());
        let plan = plan_keep(&memory, &by.session, &by, cause.clone(), false).unwrap();
        apply(&mut memory, plan);
        assert_eq!(memory.active_of(Kind::Lesson).count(), 0);
    }
}
