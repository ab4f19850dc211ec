//! Lessons recorded by rule stay marked as such when they are imported.

use super::*;
use crate::testing::captured_lesson;

#[test]
fn a_captured_lesson_is_imported_as_a_captured_lesson() {
    let error = "error: the lock 17 is held by process 4711";
    let mut there = Memory::default();
    let old = captured_lesson("make migrate", error, day(2));
    save(&mut there, &origin("one", 2), lessons([old.clone()]));
    changed_by(&mut there, |record| {
        if let Body::Lesson(Lesson { captured: Some(fixed), .. }) = &mut record.body {
            fixed.times = 3;
        }
    });
    let mut here = Memory::default();
    for digest in ["one", "two"] {
        let plan = planned(&here, &export(&there), digest);
        apply(&mut here, plan);
    }
    let lesson_of = |memory: &Memory| match memory.active_of(Kind::Lesson).next().unwrap().body {
        Body::Lesson(ref lesson) => lesson.clone(),
        _ => panic!("a lesson"),
    };
    assert_eq!(lesson_of(&here), lesson_of(&there), "its times do not add up");

    // The newer lesson says what to do. The failure is the same, despite its different numbers.
    let newer = captured_lesson("make migrate", &error.replace("17", "18"), day(9));
    let newer = Lesson { summary: "newer".to_owned(), ..newer };
    save(&mut here, &origin("two", 9), lessons([newer]));
    assert_eq!(here.active_of(Kind::Lesson).count(), 1);
    let plan = planned(&here, &export(&there), "three");
    apply(&mut here, plan);
    let merged = lesson_of(&here);
    assert_eq!((merged.summary.as_str(), merged.captured.unwrap().times), ("newer", 3));

    // A lesson that an agent wrote stays separate.
    save(&mut here, &origin("two", 10), lessons([lesson(&old.summary, "")]));
    assert_eq!(here.active_of(Kind::Lesson).count(), 2);
}
