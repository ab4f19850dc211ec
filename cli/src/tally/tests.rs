//! The tally finds lost and duplicated writes. The demo and torture depend on it.

use serde_json::json;

use super::*;

fn tags(tags: &[&str]) -> BTreeSet<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}

#[test]
fn lost_and_twice_are_told_apart() {
    let told = tags(&["a-01", "a-02", "a-03"]);
    let tally = tally(&told, ["lesson a-01: detail of a-01", "a-03", "see a-03.", "a-010"]);
    assert_eq!(tally.lost, ["a-02"], "a-010 is another word");
    assert_eq!(tally.twice, ["a-03"], "a tag counts once in a text");
    assert_eq!((tally.acknowledged, tally.found()), (3, 2));
}

#[test]
fn nothing_acknowledged_is_nothing_lost() {
    assert_eq!(tally(&BTreeSet::new(), ["a-01"]), Tally::default());
}

#[test]
fn a_write_that_was_applied_twice_shows_in_the_journal() {
    let line = |op: &str, changes| JournalLine {
        seq: 1,
        revision: None,
        time: 0,
        session: None,
        op: op.to_owned(),
        changes,
    };
    let stage = json!({"stage": {"session": "s", "part": {"lessons": [{"summary": "t-1 x"}]}}});
    let row =
        |summary: &str| json!({"put": {"id": "s1", "body": {"session_row": {"summary": summary}}}});
    let aside =
        json!({"put": {"standing": "archived", "body": {"session_row": {"summary": "t-2"}}}});
    let mut seen = Seen::default();
    seen.note_applied(&line("checkpoint", vec![stage.clone()]));
    seen.note_applied(&line("save", vec![row("did t-2")]));
    seen.note_applied(&line("save", vec![row("did t-3"), aside]));
    seen.note_applied(&line("keep", vec![row("t-3")]));
    let all = tags(&["t-1", "t-2", "t-3"]);
    assert_eq!(seen.repeated(&all), Vec::<&String>::new());
    seen.note_applied(&line("checkpoint", vec![stage]));
    assert_eq!(seen.repeated(&all), ["t-1"]);
    let note = json!({"put": {"id": "n1", "body": {"note": {"content": "t-4: words"}}}});
    seen.note_applied(&line("note", vec![note.clone()]));
    seen.note_applied(&line("compact", vec![note.clone()]));
    assert_eq!(seen.repeated(&tags(&["t-4"])), Vec::<&String>::new());
    seen.note_applied(&line("note", vec![note]));
    assert_eq!(seen.repeated(&tags(&["t-4"])), ["t-4"]);
}
