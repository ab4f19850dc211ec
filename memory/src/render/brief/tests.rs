//! The words about a text that was checkpointed.

use std::collections::BTreeSet;

use super::*;

#[test]
fn the_last_line_says_what_applied() {
    let id = |text: &str| text.parse().unwrap();
    let all = TextEnd {
        notes: &[id("n3"), id("n4")],
        fields: &["task", "done"],
        is_merged: true,
        rest: Rest::Nobody,
    };
    insta::assert_snapshot!(text_end(&all), @"The text was appended (n3, n4); its form gave task, done; your state was merged.");
    let asked = TextEnd { notes: &[id("n3")], rest: Rest::Agent, ..TextEnd::default() };
    insta::assert_snapshot!(text_end(&asked), @"The text was appended (n3). The rest waits for your state.");
    insta::assert_snapshot!(text_end(&TextEnd::default()), @"Nothing was merged.");
}

#[test]
fn a_state_is_asked_for_with_the_brief() {
    let brief = Brief::of("p-1", None, BTreeSet::new());
    let text = ask_for_state(&brief, StateCall::Checkpoint, 9_000);
    insta::assert_snapshot!(text.trim_start(), @r#"
    Still to do: work the text into the brief. Call checkpoint with `state`, this object changed. Keep every question, answer, file and recent change unless the text says otherwise; `replaces`: true allows a much shorter description.
    {"active_context":{"active_decisions":[],"active_files":[],"current_task":""},"meta":{"last_checkpoint":"1970-01-01T00:00:00.000Z","session_id":"p-1","version":0},"project_context":{"architecture":"","overview":"","recent_changes":[]}}
    "#);
    let json = text.lines().find(|line| line.starts_with('{')).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap(), brief.state());
    insta::assert_snapshot!(ask_for_state(&brief, StateCall::Save, 200).trim_start(), @"The brief is too long to be shown here. Write what the text changes: memory_checkpoint with a topic.");
}

#[test]
fn a_refusal_names_what_is_missing() {
    let losses: Vec<Loss> = (0..22).map(|at| Loss::Question(format!("Q{at}?"))).collect();
    let text = state_refused(&losses);
    assert_eq!(text.lines().count(), 22);
    assert!(text.ends_with("Q19?\n- and 2 more\n"), "{text}");
}
