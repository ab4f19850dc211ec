//! A load without the time to consider all records.

use super::*;

#[test]
fn a_partial_load_has_the_newest_and_the_pinned_records_and_says_so() {
    let mut memory = Memory::default();
    let titled = |at: usize| blueprint(&format!("Title {at:03}"), "short");
    let many: Vec<_> = (0..limits::PART_RECORDS_MAX * 3).map(titled).collect();
    save(&mut memory, &origin("one", 1), blueprints(many));
    let long = "x ".repeat(limits::PART_TEXT_BYTES_MAX);
    save(&mut memory, &origin("one", 2), blueprints([blueprint("A long one", &long)]));
    let update = Update { pinned: Some(true), ..Update::default() };
    let (reader, first) = (Reader::session(SessionId::new("one")), "b1".parse().unwrap());
    let plan = plan_update(&memory, &reader, first, &update, None, &origin("one", 3));
    apply(&mut memory, plan.unwrap());

    let text = |part| loaded(&memory, &Asked { part, ..Asked::default() });
    let (whole, part) = (text(false), text(true));
    assert!(part.truncated);
    assert!(part.text.ends_with("memory_load {} shows it.\n"), "{}", part.text);
    assert!(!whole.text.contains("only a part"), "{}", whole.text);
    assert_eq!(whole.text.matches("] Title ").count(), limits::PART_RECORDS_MAX * 3);
    // The long one is the newest, and is shown by its title.
    assert_eq!(part.text.matches("] Title ").count(), limits::PART_RECORDS_MAX);
    assert!(part.text.contains("Title 000") && part.text.contains("Title 059"), "{}", part.text);
    assert!(part.text.contains("A long one") && !part.text.contains("x x"), "{}", part.text);
    let total = limits::PART_RECORDS_MAX * 3;
    let heading = format!("## Blueprints ({} of {total})", limits::PART_RECORDS_MAX);
    assert!(part.text.contains(&heading), "{}", part.text);
}
