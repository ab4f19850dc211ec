//! Tests of blueprints whose titles are told apart by case.

use super::*;

/// One spelling of a title is purged with what is staged in it. The other is another blueprint.
#[test]
fn a_blueprint_told_apart_by_case_is_purged_alone() {
    let exact = |title: &str| crate::Blueprint { exact: true, ..blueprint(title, "x") };
    let mut journal = Journal::new();
    let mut memory = Memory::default();
    for (session, titles) in [("one", ["Case", "case"]), ("two", ["case", "CASE"])] {
        let part = Staged { blueprints: titles.map(exact).to_vec(), ..Staged::default() };
        let by = origin(session, 1);
        let changes = match session {
            "one" => {
                let save = Save { session_summary: "done", part, ..Save::default() };
                plan_save(&memory, &by, save).unwrap().changes
            }
            _ => plan_checkpoint(&memory, &by, part).unwrap().changes,
        };
        memory.apply(Seq(memory.seq().0 + 1), &changes);
        journal.push((changes, None));
    }
    let (journal, purge) = purged(&journal, &["b2"], None);
    let memory = replayed(&journal);
    assert_eq!(purge.staged(), 1);
    let staged = &memory.staged_by(&SessionId::new("two")).unwrap().blueprints;
    let titles: Vec<&str> = staged.iter().map(|blueprint| blueprint.title.as_str()).collect();
    assert_eq!(titles, ["CASE"]);
    assert!(memory.record("b1".parse().unwrap()).is_some());
    assert!(memory.record("b2".parse().unwrap()).is_none());
}
