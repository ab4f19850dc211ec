//! What is pinned comes before everything else.

use super::*;

#[test]
fn a_pinned_record_may_take_what_is_kept_for_notices() {
    let mut memory = Memory::default();
    let long: String = (0..360).map(|word| format!("rule{word} ")).collect();
    let short = |n: usize| format!("a lesser note, number {n}");
    let mut notes = vec![Ok(NewNote { content: long.clone(), pinned: true, ..NewNote::default() })];
    notes.extend((0..3).map(|n| Ok(NewNote { content: short(n), ..NewNote::default() })));
    let plan = plan_notes(&memory, &origin("me", 1), notes).unwrap();
    apply(&mut memory, plan);
    let takes = crate::tokens::count(&long);
    let asked = Asked { tokens_max: Some(1_300), ..Asked::default() };
    let page = room_max(&asked);
    assert!(page.tokens * 3 / 4 < takes as usize && page.holds(Room::of(&long)), "{takes} tokens");
    let text = loaded(&memory, &asked).text;
    assert!(text.contains(long.trim_end()), "{text}");
}
