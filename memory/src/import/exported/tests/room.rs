//! An export that a project has no room for.

use super::*;

#[test]
fn records_without_room_are_reported_and_imported_once_there_is_room() {
    let mut there = Memory::default();
    let texts = ["a", "b"].map(|title| blueprint(title, &"x".repeat(200_000)));
    let part = Staged { notes: vec![note("small")], ..blueprints(texts) };
    save(&mut there, &origin("there", 1), part);
    let document = export(&there);

    // Room for one of the two.
    let mut here = Memory::default();
    save(&mut here, &origin("here", 2), blueprints([blueprint("here", "y")]));
    let first = here.active_of(Kind::Blueprint).next().unwrap().clone();
    let filler = |content: u64| {
        let content = "y".repeat(usize::try_from(content).unwrap());
        let body = Body::Blueprint(blueprint("here", &content));
        Record { body, version: first.version.next(), ..Record::clone(&first) }
    };
    here.put(filler(crate::limits::BLUEPRINTS_BYTES_MAX - 300_000).into());
    let outcome = import(&mut here, &document);
    let named = |notes: &[String]| notes.iter().filter(|note| note.contains("no room")).count();
    assert_eq!((named(&outcome.notes), outcome.added.blueprints), (1, 1), "{:?}", outcome.notes);
    assert_eq!(outcome.added.notes, 1, "other kinds have room");

    here.put(filler(1).into());
    let outcome = import(&mut here, &document);
    assert_eq!((outcome.before, outcome.added.blueprints), (None, 1), "{:?}", outcome.notes);
    assert!(import(&mut here, &document).before.is_some(), "now it is here in full");
}
