//! Loads of few tokens over scripts in which a character is one or more tokens.

use std::collections::BTreeMap;

use super::*;
use crate::{RecordId, tokens};

/// Amharic, emoji, Chinese, English.
const SCRIPTS: [&str; 4] = ["ማስታወሻ መዝገብ ", "🟥🟦🟩🫠", "漢字と仮名の題名", "a line of words "];

/// Generates short and long notes and lessons, each in one script.
fn any_scripts() -> impl Strategy<Value = Memory> {
    let size = prop_oneof![Just(4_usize), Just(130), Just(155), 1_usize..400, Just(3_000)];
    let item = (0..SCRIPTS.len(), size, any::<bool>(), 0_u8..9);
    prop::collection::vec(item, 1..14).prop_map(|items| {
        let mut memory = Memory::default();
        let mut notes = Vec::new();
        for (at, (script, size, is_note, pin)) in items.into_iter().enumerate() {
            let text: String = SCRIPTS[script].chars().cycle().take(size).collect();
            if is_note {
                notes.push(NewNote { pinned: pin == 0, ..note(&format!("{at} {text}")) });
            } else {
                let summary: String = text.chars().take(900).collect();
                let detail = if pin > 4 { text.as_str() } else { "" };
                let part = lessons([lesson(&format!("{at} {summary}"), detail)]);
                save(&mut memory, &origin("one", 1), part);
            }
        }
        if !notes.is_empty() {
            with_notes(&mut memory, "one", notes);
        }
        memory
    })
}

fn pages(memory: &Memory, tokens_max: u32) -> Vec<LoadText> {
    let mut asked = Asked { tokens_max: Some(tokens_max), ..Asked::default() };
    let mut pages: Vec<LoadText> = Vec::new();
    loop {
        let page = loaded(memory, &asked);
        assert!(tokens::count(&page.text) <= tokens_max, "{}", page.text);
        assert!(!page.shown.is_empty(), "nothing on {}", page.text);
        assert!(page.next != asked.cursor || page.next.is_none(), "{:?} goes on", page.next);
        let next = page.next.clone();
        pages.push(page);
        assert!(pages.len() < 200, "pages without an end");
        if next.is_none() {
            return pages;
        }
        asked.cursor = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_page_shows_something_and_all_of_them_everything(
        memory in any_scripts(), tokens_max in prop_oneof![Just(limits::LOAD_TOKENS_MIN), 600_u32..1_500],
    ) {
        let pages = pages(&memory, tokens_max);
        let mut later: BTreeMap<RecordId, u32> = BTreeMap::new();
        for page in pages.iter().skip(1) {
            for id in &page.shown {
                *later.entry(*id).or_default() += 1;
            }
        }
        for record in memory.active() {
            let first = pages[0].shown.contains(&record.id);
            let times = later.get(&record.id).copied().unwrap_or_default();
            prop_assert!(times <= 1, "{} is on {times} pages after the first", record.id);
            prop_assert!(first || times == 1, "{} is on no page", record.id);
        }
    }
}

#[test]
fn a_title_longer_than_a_page_is_shortened() {
    let mut memory = Memory::default();
    let notes = (0..3).map(|at| note(&format!("{at} {}", "ማስታወሻ".repeat(30)))).collect();
    with_notes(&mut memory, "one", notes);
    let pages = pages(&memory, limits::LOAD_TOKENS_MIN);
    assert!(pages[0].text.contains("ማስታወሻ"), "{}", pages[0].text);
    let shown: BTreeSet<_> = pages.iter().flat_map(|page| &page.shown).collect();
    assert_eq!(shown.len(), 3);
}
