//! A topic on its own, and lists of them.

use std::collections::BTreeSet;

use super::{BoundSession, head, topic, topics};
use crate::limits::{ANSWER_CHARS_MAX, TOPIC_DECISIONS_SHOWN_MAX, TOPIC_HISTORY_SHOWN_MAX};
use crate::testing::{apply, origin, save};
use crate::{HistoryLine, Memory, Staged, Timestamp, TopicDecision, TopicPart, plan_bind};

fn decision(question: &str, decided: Option<&str>) -> TopicDecision {
    TopicDecision {
        question: question.to_owned(),
        decided: decided.map(str::to_owned),
        time: Timestamp::default(),
    }
}

fn of(name: &str, status: &str) -> TopicPart {
    TopicPart {
        name: Some(name.to_owned()),
        status: Some(status.to_owned()),
        ..TopicPart::default()
    }
}

fn write(memory: &mut Memory, session: &str, on: i64, part: TopicPart) {
    save(memory, &origin(session, on), Staged { topics: vec![part], ..Staged::default() });
}

fn read(memory: &Memory, name: &str, gone: &[&str]) -> String {
    let record = memory.topic(name).unwrap();
    let gone: BTreeSet<String> = gone.iter().map(|file| (*file).to_owned()).collect();
    topic(Some(record.id), record.topic().unwrap(), &gone)
}

#[test]
fn a_topic_reads_well() {
    let mut memory = Memory::default();
    let first = TopicPart {
        decisions: vec![decision("Which port?", None), decision("LRU or LFU?", None)],
        files: vec!["src/cache.rs".to_owned(), "src/old.rs".to_owned()],
        ..of("cache", "warming works\nnext: eviction")
    };
    write(&mut memory, "one", 1, first);
    let next = TopicPart {
        decisions: vec![decision("LRU or LFU?", Some("LRU, measured"))],
        history: vec![HistoryLine::new("context compacted, 280 to 45 messages")],
        ..of("cache", "eviction is written\nnext: measure it")
    };
    write(&mut memory, "two", 2, next);
    insta::assert_snapshot!(read(&memory, "cache", &["src/old.rs"]), @r"
    t1 cache: eviction is written
      next: measure it
      open: Which port?
      decided: LRU or LFU? -> LRU, measured (2026-11-02)
      files: src/old.rs (gone), src/cache.rs
      history:
      - 2026-11-01 claude-code: warming works next: eviction
      - 2026-11-02 claude-code: context compacted, 280 to 45 messages
      ");
    let nothing = topic(
        None,
        &crate::Topic { name: "wire".to_owned(), ..Default::default() },
        &BTreeSet::new(),
    );
    insta::assert_snapshot!(nothing, @"wire: (no status yet)");
}

#[test]
fn a_brief_reads_well() {
    let mut memory = Memory::default();
    let part = TopicPart {
        overview: Some("A cache.\nFor pages.".to_owned()),
        architecture: Some(format!("One writer. {}end", "Many readers. ".repeat(40))),
        decisions: vec![TopicDecision::statement("LRU it is."), decision("Which size?", None)],
        history: vec![HistoryLine {
            files: vec!["src/evict.rs".to_owned(), "src/lib.rs".to_owned()],
            ..HistoryLine::written("Wrote the eviction.".to_owned())
        }],
        ..of("main", "measure it")
    };
    write(&mut memory, "one", 1, part);
    let record = memory.topic("main").unwrap();
    let whole = read(&memory, "main", &[]);
    assert!(whole.contains(" readers. end\n"), "{whole}");
    insta::assert_snapshot!(whole.replace("Many readers. ", ""), @"
    t1 main: measure it
      overview: A cache.
        For pages.
      architecture: One writer. end
      open: Which size?
      decided: LRU it is. (2026-11-01)
      history:
      - 2026-11-01 claude-code: Wrote the eviction. (src/evict.rs, src/lib.rs)
    ");
    let loaded = super::loaded(record, record.topic().unwrap());
    let architecture = loaded.lines().find(|line| line.starts_with("  architecture: ")).unwrap();
    assert!(architecture.ends_with('…') && architecture.chars().count() < 420, "{architecture}");
}

#[test]
fn a_topic_without_a_status_shows_its_latest_history_line() {
    let mut memory = Memory::default();
    for (day, told) in [(1, "begun"), (2, "Session ended. Asked: fix the login")] {
        let history = vec![HistoryLine::new(told)];
        write(&mut memory, "one", day, TopicPart { history, ..of("session-1a", "") });
    }
    let record = memory.topic("session-1a").unwrap();
    assert_eq!(
        head(record, record.topic().unwrap()),
        "t1 session-1a: 2026-11-02 claude-code: Session ended. Asked: fix the login"
    );
}

#[test]
fn decisions_and_history_shown_are_limited() {
    let mut memory = Memory::default();
    for at in 0..60 {
        let answer = (at % 2 == 0).then_some("yes");
        let decisions = vec![decision(&format!("question {at}?"), answer)];
        write(
            &mut memory,
            "one",
            at,
            TopicPart { decisions, ..of("cache", &format!("step {at}")) },
        );
    }
    let text = read(&memory, "cache", &[]);
    let lines = |with: &str| text.lines().filter(|line| line.contains(with)).count();
    assert_eq!(lines("  open: ") + lines("  decided: "), TOPIC_DECISIONS_SHOWN_MAX);
    assert!(text.contains("(40 earlier decisions)"), "{text}");
    assert_eq!(lines("  - "), TOPIC_HISTORY_SHOWN_MAX);
    assert!(text.contains("history (29 earlier):"), "{text}");

    let long = TopicPart {
        decisions: (0..20).map(|at| decision(&format!("{at} {}", "x".repeat(900)), None)).collect(),
        ..of("cache", "long")
    };
    write(&mut memory, "one", 61, long);
    let text = read(&memory, "cache", &[]);
    assert!(text.chars().count() <= ANSWER_CHARS_MAX && text.contains("memory_get"), "{text}");
}

#[test]
fn topics_are_listed_with_their_bound_sessions() {
    let mut memory = Memory::default();
    write(&mut memory, "one", 1, of("main", "reviewed"));
    let open = vec![decision("Which port?", None)];
    write(&mut memory, "two", 2, TopicPart { decisions: open, ..of("wire", "framing is done") });
    let live = |key: &str, client: &str| BoundSession {
        key: key.to_owned(),
        client: client.to_owned(),
        own: key == "k1",
    };
    for (key, name) in [("k1", "wire"), ("k2", "WIRE"), ("k3", "cache"), ("away", "main")] {
        let plan = plan_bind(&memory, key, Some(name)).unwrap();
        apply(&mut memory, plan);
    }
    let sessions =
        [live("k1", "claude-code"), live("k2", "codex"), live("k3", ""), live("k4", "unbound")];
    insta::assert_snapshot!(topics(&memory, &sessions), @r"
    - t3 wire: framing is done [1 open] (2026-11-02); here now: claude-code (you), codex
    - t1 main: reviewed (2026-11-01)
    - cache: nothing saved yet; here now: an agent
    ");
    // A topic that is bound first and saved later takes the spelling of the save.
    let plan = plan_bind(&memory, "k4", Some("CACHE")).unwrap();
    apply(&mut memory, plan);
    let cache = "cache: nothing saved yet; here now: an agent, unbound\n";
    assert!(topics(&memory, &sessions).ends_with(cache), "{}", topics(&memory, &sessions));
    write(&mut memory, "one", 3, of("Cache", "warm"));
    let listed = topics(&memory, &sessions);
    let cache = " Cache: warm (2026-11-03); here now: an agent, unbound";
    assert!(listed.lines().next().unwrap().ends_with(cache), "{listed}");
    assert!(!listed.contains("nothing saved"), "{listed}");
    insta::assert_snapshot!(topics(&Memory::default(), &[]), @"No topics yet: memory_checkpoint with a topic begins one; without a name it is `main`.");
}
