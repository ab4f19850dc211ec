//! Texts of no known language.

use super::*;

fn lines(text: &str) -> Vec<String> {
    let outline = outline_text(text);
    let shown = |item: &Item| format!("{} {}-{} {}", item.depth, item.first, item.last, item.name);
    outline.items.iter().map(shown).collect()
}

#[test]
fn headings_make_sections() {
    let text = "Guide\n=====\n\nWords.\n\nPart one\n--------\nMore.\n\nPart two\n--------\nEnd.\n";
    assert_eq!(lines(text), ["0 1-12 Guide", "1 6-9 Part one", "1 10-12 Part two"]);
}

#[test]
fn settings_have_sections() {
    let text = "[core]\nbare = false\n\n[remote \"origin\"]\nurl = x\n";
    assert_eq!(lines(text), ["0 1-3 core", "0 4-5 remote \"origin\""]);
}

#[test]
fn a_text_without_headings_has_blocks() {
    assert_eq!(lines("one\ntwo\n\n\nthree\n"), ["0 1-2 one", "0 5-5 three"]);
    assert_eq!(lines("\n\n"), Vec::<String>::new());
}

#[test]
fn many_blocks_are_joined() {
    let text: String = (0..1_000).map(|at| format!("block {at}\n\n")).collect();
    let outline = outline_text(&text);
    assert!(outline.items.len() <= BLOCKS_MAX);
    let covered: u32 = outline.items.iter().map(|item| item.last - item.first + 2).sum();
    assert_eq!(covered, outline.lines, "no line is lost");
}
