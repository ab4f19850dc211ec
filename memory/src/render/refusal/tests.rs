//! Refusals, as an agent and as a person at a shell read them.

use super::*;
use crate::audience::Shell;

#[test]
fn advice_is_worded_for_its_audience() {
    let full = |kind| Refusal::Full { kind, unit: "records".into(), kept: 9, more: 2, most: 10 };
    let cases = [
        (
            full(Kind::Note),
            "no room for more notes in this project: 9 of 10 records are used, 2 more are needed; memory_forget records \
             that no longer hold; a person at a shell can also `anchord forget` what past sessions kept for themselves",
            "no room for more notes in this project: 9 of 10 records are used, 2 more are needed; `anchord forget` \
             records that no longer hold, also what past sessions kept for themselves",
        ),
        (
            full(Kind::SessionRow),
            "no room for more session rows in this project: 9 of 10 records are used, 2 more are needed; memory_forget \
             records that no longer hold, archived ones too",
            "no room for more session rows in this project: 9 of 10 records are used, 2 more are needed; `anchord \
             forget` records that no longer hold, archived ones too",
        ),
        (
            Refusal::EmptyNote,
            "content is empty; memory_forget takes a note away",
            "content is empty; `anchord forget` takes a note away",
        ),
        (
            Refusal::NotesAlone { field: "importance".into(), id: "b1".parse().unwrap() },
            "importance is of notes alone and b1 is a blueprint; of a blueprint, tags and pinned can be set here, the \
             rest is written again with memory_checkpoint or memory_save",
            "importance is of notes alone and b1 is a blueprint; of a blueprint, tags and pinned can be set here, the \
             rest is changed with `anchord edit`",
        ),
        // Neither of those takes rules.
        (
            Refusal::NotesAlone { field: "content".into(), id: "r1".parse().unwrap() },
            "content is of notes alone and r1 is a rule; of a rule, tags and pinned can be set here, the rest is \
             proposed as another rule with memory_rule_set, and only a person changes what is in force",
            "content is of notes alone and r1 is a rule; of a rule, tags and pinned can be set here, the rest is \
             changed with `anchord rules add` under the same title, and `anchord rules disable` takes a rule out of \
             force",
        ),
        // The key is somebody's own, whatever it looks like.
        (
            Refusal::NoSuchKey { key: "memory_load".to_owned(), nearest: Vec::new() },
            "there is no fact with the key `memory_load`; memory_search finds notes by their words",
            "there is no fact with the key `memory_load`; `anchord search` finds notes by their words",
        ),
        (
            Refusal::NoSuchTopic { name: "cache".to_owned(), known: Vec::new(), more: 0 },
            "there is no topic `cache` yet; memory_checkpoint with a topic begins one",
            "there is no topic `cache` yet; an agent's checkpoint with a topic begins one",
        ),
    ];
    let person = Audience::Person(Shell::default());
    for (refusal, agents, persons) in cases {
        assert_eq!(refusal.to_string(), agents);
        assert_eq!(refusal.worded(&person), persons);
    }
}

/// Without the option, the advice would be about the working directory's memory.
#[test]
fn advice_names_the_memory_that_the_command_was_about() {
    let typed = ["get", "n99", "--project", "/a"].map(str::to_owned).into();
    let person = Audience::Person(Shell { typed });
    let id = "n99".parse().unwrap();
    assert_eq!(
        Refusal::NotFound { id }.worded(&person),
        "there is no record n99; `anchord search --project /a` finds records by their words"
    );
    let alone = Refusal::NotesAlone { field: "content".into(), id: "b1".parse().unwrap() };
    assert!(alone.worded(&person).ends_with("is changed with `anchord edit --project /a`"));
}
