//! The drawn screen, and the keys.

use anchord_daemon::api::{SavedRecord, SessionSummary, StagedStatus, WaitingApproval};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

fn lane(client: &str, given: u64) -> Lane {
    let line = |number| Retrieval {
        number,
        session: client.to_owned(),
        tool: "hook prompt".to_owned(),
        ids: vec!["n1".to_owned()],
        tokens: 120,
        ..Retrieval::default()
    };
    Lane {
        session: SessionSummary {
            id: client.to_owned(),
            client: client.to_owned(),
            pid: None,
            project: None,
            since: 0,
            last_call: 0,
            connected: true,
            staged: StagedStatus::default(),
            staged_unknown: false,
            joined: None,
        },
        staged: vec!["- blueprint: Ports\nsecond line".to_owned()],
        staged_more: 2,
        saved: vec![SavedRecord {
            id: "l1".parse().unwrap(),
            title: "A lesson".to_owned(),
            time: 0,
        }],
        given: (1..=given).map(line).collect(),
        waits: Some(Waits::Writer { jobs: 3, behind: vec!["other".to_owned()] }),
    }
}

fn screen() -> Screen {
    let approval = WaitingApproval {
        id: "3fa2".to_owned(),
        action: "make deploy".to_owned(),
        rules: Vec::new(),
        session: "codex".to_owned(),
        since: 0,
    };
    let now = NowReply {
        lanes: vec![lane("claude-code", 2), lane("codex", 0)],
        approvals: vec![approval],
    };
    let text = Some((
        ("claude-code".to_owned(), 1),
        "n1: has deploy of the prompt\n\nThe text".to_owned(),
    ));
    Screen { now, text, ..Screen::default() }
}

fn drawn(screen: &Screen) -> String {
    drawn_at(screen, 130, 30)
}

fn drawn_at(screen: &Screen, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| screen.draw(frame)).unwrap();
    terminal.backend().to_string()
}

#[test]
fn sessions_lists_and_the_text_are_shown() {
    let shown = drawn(&screen());
    for wanted in [
        "claude-code",
        "codex",
        "waits for you: make deploy (anchord approve 3fa2)",
        "3 writes behind 1 session",
        "- blueprint: Ports",
        "A lesson",
        "hook prompt · 1 record, 120 tokens",
        "has deploy of the prompt",
        "The text",
    ] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    assert!(!shown.contains("second line"), "an item has one line\n{shown}");
}

#[test]
fn a_small_terminal_shows_all_that_a_session_has_and_cuts_no_word_off() {
    let mut screen = screen();
    screen.now.approvals.clear();
    let shown = drawn_at(&screen, 60, 20);
    for wanted in [
        "client      project",
        "staged saved tokens  waits for",
        "claude-code -",
        "3 writes behi…",
        "given   ",
        "hook prompt · 1 record, 120 tokens",
        "staged  - blueprint: Ports",
        "saved   A lesson",
        "has deploy of the prompt",
        "The text",
    ] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    assert!(!shown.contains("since"), "{shown}");
    // Of many answers, the chosen one is in sight, and so is what the session has written.
    screen.now.lanes[0] = lane("claude-code", 30);
    screen.now.lanes[0].given[29].tool = "search".to_owned();
    screen.answer = 29;
    let shown = drawn_at(&screen, 60, 20);
    for wanted in ["search · 1 record", "staged  - blueprint: Ports", "saved   A lesson"] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    let staged = (1..=9).map(|number| format!("- lesson {number}"));
    screen.now.lanes[0].staged = staged.collect();
    let shown = drawn_at(&screen, 60, 20);
    for wanted in ["search · 1 record", "staged  - lesson 1", "more staged or saved"] {
        assert!(shown.contains(wanted), "{wanted}\n{shown}");
    }
    for (columns, rows) in [(20, 6), (1, 1), (80, 24), (100, 12), (200, 60)] {
        drawn_at(&screen, columns, rows);
    }
}

#[test]
fn sessions_that_are_away_with_nothing_are_left_out() {
    let mut now = screen().now;
    for lane in &mut now.lanes {
        lane.session.connected = false;
    }
    now.lanes[1].staged.clear();
    now.lanes[1].saved.clear();
    let mut screen = Screen { failure: Some("it was away".to_owned()), ..Screen::default() };
    screen.show(now);
    assert_eq!(screen.now.lanes.len(), 1);
    assert_eq!((&*screen.now.lanes[0].session.client, screen.failure), ("claude-code", None));
}

#[test]
fn keys_choose_within_what_is_there_and_end_the_view() {
    let mut screen = screen();
    let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
    for _ in 0..5 {
        assert!(!screen.press(key(KeyCode::Right)));
    }
    assert_eq!((screen.session, screen.answer), (0, 1));
    for _ in 0..5 {
        screen.press(key(KeyCode::Down));
    }
    assert_eq!((screen.session, screen.answer), (1, 0), "the other session begins anew");
    screen.press(key(KeyCode::Up));
    assert_eq!(screen.chosen().map(|line| line.number), Some(1));
    assert!(screen.press(key(KeyCode::Char('q'))));
    assert!(screen.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
}

#[test]
fn a_daemon_that_is_gone_is_said() {
    let screen =
        Screen { failure: Some("error: no daemon is running".to_owned()), ..Screen::default() };
    assert!(drawn(&screen).contains("no daemon is running"));
}
