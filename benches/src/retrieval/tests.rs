//! Files are parsed, and rankings scored, correctly.

use std::collections::HashMap;

use super::*;
use dataset::Question;

#[test]
fn the_sample_is_read() {
    let conversations = dataset::conversations(SAMPLE).unwrap();
    let [Conversation { turns, sessions }] = conversations.as_slice() else { panic!("one sample") };
    assert_eq!((turns.notes.len(), sessions.notes.len()), (7, 2));
    assert_eq!(
        turns.notes[3],
        "Bo: Agreed, I will change the retention today. [shows a chart of free disk space]"
    );
    assert!(
        sessions.notes[1].starts_with("4:30 pm on 7 March, 2025\nBo: I bought")
            && sessions.notes[1].ends_with("slow.")
    );
    let asked: Vec<(u64, &[usize])> =
        turns.questions.iter().map(|q| (q.category, q.evidence.as_slice())).collect();
    assert_eq!(
        asked,
        [(4, &[1][..]), (1, &[4, 6]), (2, &[3])],
        "the fifth category and unknown turns are left out"
    );
    let asked: Vec<&[usize]> = sessions.questions.iter().map(|q| q.evidence.as_slice()).collect();
    assert_eq!(asked, [&[0], &[1], &[0]]);
}

#[test]
fn rankings_are_scored() {
    let question = |evidence: &[usize]| Question {
        text: String::new(),
        category: 1,
        evidence: evidence.to_vec(),
    };
    let mut score = Score::default();
    score.add(&question(&[3, 8]), &[5, 3, 1, 2, 4, 8]);
    score.add(&question(&[7]), &[1, 2]);
    let near = |figure: f64, expected: f64| assert!((figure - expected).abs() < 1e-9, "{figure}");
    near(score.recall(1), 0.0);
    near(score.recall(5), 0.25);
    near(score.recall(10), 0.5);
    near(score.hit(5), 0.5);
    near(score.mrr(), 0.25);
    near(score.precision_at_5(), 0.1);
    let mut twice = score.clone();
    twice.absorb(&score);
    near(twice.mrr(), 0.25);
    assert_eq!(twice.questions, 4);
}

#[test]
fn the_sample_is_answered() {
    let conversations = dataset::conversations(SAMPLE).unwrap();
    let score = over(conversations.iter().map(|c| &c.turns), &Tuning::default()).unwrap();
    assert!(score.recall(5) > 0.9, "{score}");
}

#[test]
fn hits_are_parsed_from_an_answer() {
    let ids = HashMap::from([("n1", 0), ("n7", 1), ("n12", 2)].map(|(id, at)| (id.to_owned(), at)));
    let answer = "nothing has `vakuum`; searched `vacuum`\n\
                  n12 (code): vacuum\n  n1: is quoted here\n\
                  n7: the vacuum\n\
                  truncated: true; 1 left out: n1; go on with {\"cursor\":\"2\"}\n";
    assert_eq!(tool_path::hits(answer, &ids).unwrap(), [2, 1]);
    assert!(tool_path::hits("n9: another's\n", &ids).is_err());
}

#[test]
fn repeated_texts_become_one_note() {
    let set = r#"{"notes": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}, {"id": "c", "text": "x"}],
        "questions": [{"question": "?", "evidence": ["c", "b", "a"]}]}"#;
    assert_eq!(dataset::coding(set).unwrap().questions[0].evidence, [0, 1]);
}

/// The constants were chosen on this set, so a change of the engine that loses something fails
/// here.
#[test]
fn commits_are_found_with_high_recall() {
    let coding = dataset::coding(CODING).unwrap();
    assert!(coding.questions.len() >= 60);
    let of = |tuning| over(std::iter::once(&coding), &tuning).unwrap();
    let shipped = of(Tuning::default());
    let alone = of(Tuning { neighbour: 0.0, neighbour_far: 0.0, ..Tuning::default() });
    assert!(shipped.precision_at_5() >= alone.precision_at_5(), "{shipped} against {alone}");
    assert!(shipped.recall(10) > 0.97, "{shipped}");
}

#[test]
fn the_questions_about_commits_are_parsed() {
    let commits = Commits::parse(commits::QUESTIONS).unwrap();
    assert!(commits.count == 5_000 && commits.last.len() == 40);
    let signed = commits.questions.iter().filter(|(_, text)| commits::has_signs(text)).count();
    assert!(commits.questions.len() >= 200 && signed * 2 >= commits.questions.len(), "{signed}");
    for (text, expected) in [
        ("a \"debug\" build", true),
        ("re-used", true),
        ("curl -k", true),
        ("a - b-", false),
        ("plain", false),
    ] {
        assert_eq!(commits::has_signs(text), expected, "{text}");
    }
}

/// The constants of re-ranking were chosen on the first set only.
#[test]
fn rescoring_ranks_answering_records_higher() {
    let shipped = Tuning::default();
    let plain = Tuning { rescored_hits: 0, ..shipped };
    let sets = crate::given::answered(300, records::NOW).unwrap();
    let [ferry, coast] = sets.as_slice() else { panic!("two sets") };
    let both = |set| (records::score(set, &plain), records::score(set, &shipped));
    let (before, after) = both(ferry);
    assert!(after.mrr() > before.mrr() + 0.02, "{before} and {after}");
    let (before, after) = both(coast);
    assert!(after.recall(5) > before.recall(5) + 0.02, "{before} and {after}");
}
