//! The ledger alone: events in, lines out.

use std::collections::BTreeMap;

use anchord_proto::line::McpLine;
use proptest::prelude::*;

use super::*;
use crate::message::{FromAgent, FromDaemon, from_agent, from_daemon};
use crate::testing::{notification, reply, request};

fn id(raw: &str) -> Id {
    match from_agent(&request(raw, "x")).unwrap() {
        FromAgent::Request(id, _) => id,
        other => panic!("{other:?}"),
    }
}

impl Ledger {
    fn ask(&mut self, raw: &str, call: Call) {
        self.request(id(raw), call, request(raw, "x"));
    }

    /// Returns the number and the acknowledged number of all lines that may be sent now.
    fn sent(&mut self) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        while self.write_next(&mut out) {}
        let text = String::from_utf8(out).unwrap();
        text.lines()
            .map(|line| {
                let line = McpLine::parse(line.as_bytes()).unwrap();
                (line.number, line.acknowledged)
            })
            .collect()
    }

    fn answered(&mut self, raw: &str) -> Reply {
        match from_daemon(reply(raw).as_bytes()).unwrap() {
            FromDaemon::Reply(id, _) => self.reply(&id, || None),
            FromDaemon::Other => panic!("not a reply"),
        }
    }
}

#[test]
fn the_earlier_of_two_requests_with_one_id_is_answered_and_the_later_cancelled() {
    let mut ledger = Ledger::default();
    for _ in 0..3 {
        ledger.ask("1", Call::Plain);
    }
    ledger.sent();
    ledger.answered("1");
    ledger.cancelled(&id("1"));
    ledger.lost();
    assert_eq!(ledger.sent(), [(2, 1)]);
}

#[test]
fn a_string_and_a_number_are_different_ids() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Plain);
    ledger.ask("\"1\"", Call::Plain);
    ledger.sent();
    ledger.answered("\"\\u0031\"");
    ledger.lost();
    assert_eq!(ledger.sent(), [(1, 0)]);
}

#[test]
fn an_unsent_request_does_not_count_as_died() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Plain);
    for _ in 0..5 {
        assert!(ledger.lost().is_empty());
    }
    ledger.sent();
    assert!(ledger.lost().is_empty());
    ledger.sent();
    assert_eq!(ledger.lost().len(), 1);
    assert!(ledger.is_settled());
}

#[test]
fn a_request_cancelled_before_sending_is_never_sent() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Plain);
    ledger.cancelled(&id("1"));
    ledger.notification(notification("notifications/cancelled"));
    assert_eq!(ledger.sent(), [(2, 1)]);
    assert!(ledger.is_settled());
}

#[test]
fn initialize_cannot_be_cancelled() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Initialize);
    ledger.cancelled(&id("1"));
    assert_eq!(ledger.sent(), [(1, 0)]);
}

#[test]
fn a_refused_handshake_is_not_repeated() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Initialize);
    ledger.sent();
    assert_eq!(ledger.reply(&id("1"), || None), Reply::Forward);
    ledger.lost();
    ledger.connected();
    assert!(ledger.sent().is_empty());
    assert_eq!(ledger.revision(), None);
}

#[test]
fn a_daemon_waiting_for_initialized_gets_it_once() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Initialize);
    ledger.sent();
    ledger.reply(&id("1"), || Some("2025-06-18".to_owned()));
    ledger.initialized(notification("notifications/initialized"));
    ledger.lost();
    ledger.connected();
    assert_eq!(ledger.sent(), [(1, 0), (2, 1)]);
    ledger.lost();
    ledger.connected();
    assert_eq!(ledger.sent(), [(1, 0), (2, 1)]);
    assert_eq!(ledger.answered("1"), Reply::Swallow);
    assert_eq!(ledger.answered("1"), Reply::Forward);
}

#[test]
fn after_a_death_the_first_request_is_sent_alone_even_if_it_is_new() {
    let mut ledger = Ledger::default();
    ledger.lost();
    ledger.ask("1", Call::Plain);
    ledger.ask("2", Call::Plain);
    assert!(ledger.needs_turn());
    assert_eq!(ledger.sent(), [(1, 0)]);
    assert!(ledger.is_alone() && !ledger.needs_turn());
    ledger.answered("1");
    ledger.ask("3", Call::Plain);
    assert!(!ledger.needs_turn());
    assert_eq!(ledger.sent(), [(2, 1), (3, 1)]);
}

#[test]
fn a_lasting_request_blocks_nothing_and_survives_any_number_of_deaths() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Lasting);
    ledger.ask("2", Call::Plain);
    ledger.sent();
    ledger.answered("2");
    for _ in 0..4 {
        assert!(ledger.lost().is_empty());
        assert_eq!(ledger.sent(), [(1, 0)]);
        ledger.let_go();
        ledger.ask("3", Call::Plain);
        assert!(!ledger.needs_turn());
        assert_eq!(ledger.sent().len(), 1);
        ledger.answered("3");
    }
    assert!(ledger.lost().is_empty());
    ledger.sent();
    assert_eq!(ledger.lost().len(), 1, "it was in flight alone and killed again");
}

#[test]
fn slow_requests_are_released_but_not_sent_a_third_time() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Plain);
    ledger.ask("2", Call::Plain);
    ledger.sent();
    ledger.lost();
    assert_eq!(ledger.sent(), [(1, 0)]);
    ledger.let_go();
    assert_eq!(ledger.sent(), [(2, 0)]);
    assert_eq!(ledger.lost(), [id("1"), id("2")]);
}

#[test]
fn a_failed_search_leaves_nothing_but_the_handshake() {
    let mut ledger = Ledger::default();
    ledger.ask("1", Call::Initialize);
    ledger.sent();
    ledger.reply(&id("1"), || Some("r".to_owned()));
    ledger.ask("2", Call::Plain);
    ledger.notification(notification("n"));
    assert_eq!(ledger.fail_all(), [Failed { id: id("2"), died: false }]);
    assert!(ledger.is_settled());
    assert_eq!(ledger.held_bytes, 0);
    ledger.connected();
    assert_eq!(ledger.sent(), [(1, 0)]);
}

/// An event in a ledger's life.
#[derive(Clone, Debug)]
enum Event {
    Ask(u8),
    Notify,
    Cancel(u8),
    Send,
    Answer(u8),
    LetGo,
    Lose,
    Fail,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0..4_u8).prop_map(Event::Ask),
        1 => Just(Event::Notify),
        1 => (0..4_u8).prop_map(Event::Cancel),
        4 => Just(Event::Send),
        3 => (0..4_u8).prop_map(Event::Answer),
        1 => Just(Event::LetGo),
        2 => Just(Event::Lose),
        1 => Just(Event::Fail),
    ];
    prop::collection::vec(event, 0..80)
}

proptest! {
    /// After any events, these laws hold. Each request ends exactly once: by a reply, a
    /// cancellation or an error. None is sent on more than two connections. Numbers rise on a
    /// connection and are never shared. Nothing above an open request is acknowledged. The counts
    /// of bytes and lines come out at zero.
    #[test]
    fn the_books_balance(events in events()) {
        let mut ledger = Ledger::default();
        let (mut asked, mut ended) = (0_usize, 0_usize);
        let mut connections_of = BTreeMap::<u64, usize>::new();
        let mut last_on_connection = 0;
        for event in events {
            let open = ledger.open.len();
            match event {
                Event::Ask(raw) => {
                    ledger.ask(&raw.to_string(), Call::Plain);
                    asked += 1;
                }
                Event::Notify => ledger.notification(notification("n")),
                Event::Cancel(raw) => {
                    ledger.cancelled(&id(&raw.to_string()));
                    ended += open - ledger.open.len();
                }
                Event::Send => {
                    for (number, acknowledged) in ledger.sent() {
                        prop_assert!(number > last_on_connection);
                        last_on_connection = number;
                        let first_open = ledger.open.first().map(|request| request.number);
                        prop_assert!(first_open.is_none_or(|open| acknowledged < open));
                        if ledger.position(number).is_some() {
                            *connections_of.entry(number).or_default() += 1;
                        }
                    }
                }
                Event::Answer(raw) => {
                    ledger.answered(&raw.to_string());
                    ended += open - ledger.open.len();
                }
                Event::LetGo => ledger.let_go(),
                Event::Lose => {
                    let failed = ledger.lost();
                    prop_assert_eq!(open - ledger.open.len(), failed.len());
                    ended += failed.len();
                    last_on_connection = 0;
                }
                Event::Fail => {
                    ended += ledger.fail_all().len();
                    last_on_connection = 0;
                }
            }
            prop_assert_eq!(asked, ended + ledger.open.len());
        }
        prop_assert!(connections_of.values().all(|connections| *connections <= 2));
        ledger.fail_all();
        prop_assert_eq!((ledger.held_bytes, ledger.queued_notifications), (0, 0));
        prop_assert!(ledger.is_settled());
    }

    /// The ledger settles if every sent request is answered, however often the daemon dies.
    #[test]
    fn every_request_is_answered_if_daemons_live_long_enough(
        requests in 1..20_u64,
        deaths in prop::collection::vec(0..20_usize, 0..6),
    ) {
        let mut ledger = Ledger::default();
        for number in 1..=requests {
            ledger.ask(&number.to_string(), Call::Plain);
        }
        let mut ended = BTreeMap::<u64, usize>::new();
        for answers in deaths.into_iter().chain([usize::MAX]) {
            for _ in 0..answers {
                let sent = ledger.sent();
                if sent.is_empty() && ledger.open.iter().all(|request| !request.sent) {
                    break;
                }
                let sent = ledger.open.iter().find(|request| request.sent);
                if let Some(number) = sent.map(|request| request.number) {
                    ledger.answered(&number.to_string());
                    *ended.entry(number).or_default() += 1;
                }
            }
            if answers < usize::MAX {
                ledger.sent();
                let before: Vec<u64> = ledger.open.iter().map(|request| request.number).collect();
                ledger.lost();
                for number in before {
                    if ledger.position(number).is_none() {
                        *ended.entry(number).or_default() += 1;
                    }
                }
            }
        }
        prop_assert!(ledger.is_settled());
        prop_assert_eq!(ended.len() as u64, requests);
        prop_assert!(ended.values().all(|ends| *ends == 1));
    }
}
