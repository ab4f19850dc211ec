//! Pinned records come before everything else.

use super::*;

mod rules;

#[test]
fn a_pinned_record_may_use_the_room_reserved_for_notices() {
    let mut memory = Memory::default();
    let asked = Asked { tokens_max: Some(1_300), ..Asked::default() };
    let words = |count: usize| (0..count).map(|word| format!("rule{word} ")).collect::<String>();
    let page = room_max(&memory, &asked).without(Room { chars: 0, tokens: 40 });
    let count = (1..5_000).find(|count| Room::of(&words(count + 1)).tokens > page.tokens).unwrap();
    let long = words(count);
    let short = |n: usize| format!("a lesser note, number {n}");
    let mut notes = vec![Ok(NewNote { content: long.clone(), pinned: true, ..NewNote::default() })];
    notes.extend((0..3).map(|n| Ok(NewNote { content: short(n), ..NewNote::default() })));
    let plan = plan_notes(&memory, &origin("me", 1), notes).unwrap();
    apply(&mut memory, plan);
    let (takes, whole) = (Room::of(&long), room_max(&memory, &asked));
    assert!(!whole.percent(92).holds(takes) && whole.holds(takes), "{takes:?} of {whole:?}");
    let text = loaded(&memory, &asked).text;
    assert!(text.contains(long.trim_end()), "{text}");
}
