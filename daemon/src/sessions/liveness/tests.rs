//! Each judgement of a session, by its connection and its process.

use super::*;
use crate::testing::{dead, hello_from};

const GRACE: Duration = Duration::from_secs(30);

fn judged(hello: &Hello, away: Option<Duration>, saw_it_close: bool) -> Liveness<'_> {
    Liveness { hello, away, saw_it_close, is_restored: false }
}

#[test]
fn a_session_is_gone_without_socket_grace_period_and_process() {
    let alive = hello_from(std::path::Path::new("/"));
    let gone = dead(alive.clone());
    let rebooted = Hello { boot: Some("another boot".to_owned()), ..alive.clone() };
    let contained = Hello { pidns: Some(1), ..dead(alive.clone()) };
    let unknown = Hello { pid_start: None, ..alive.clone() };
    let second = Duration::from_secs(1);
    let day = limits::FOREIGN_GRACE;

    let cases: [(&str, &Hello, Option<Duration>, bool); 11] = [
        ("connected, though its process is gone", &gone, None, false),
        ("within the grace", &gone, Some(GRACE.saturating_sub(second)), false),
        ("after the grace", &gone, Some(GRACE), true),
        ("the process is there", &alive, Some(GRACE), false),
        ("the process is there, for ever so long", &alive, Some(30 * day), false),
        ("a pid without a start time is believed", &unknown, Some(30 * day), false),
        ("of an earlier boot", &rebooted, Some(GRACE), true),
        ("of an earlier boot, within the grace", &rebooted, Some(Duration::ZERO), false),
        ("in another container", &contained, Some(GRACE), false),
        (
            "in another container, for nearly a day",
            &contained,
            Some(day.saturating_sub(second)),
            false,
        ),
        ("in another container, for a day", &contained, Some(day), true),
    ];
    for (case, hello, away, expected) in cases {
        let judged = judged(hello, away, false).is_gone(GRACE);
        assert_eq!(judged, expected, "{case}");
    }
}

#[test]
fn a_session_end_is_judged_by_socket_and_process() {
    let alive = hello_from("/".as_ref());
    let gone = dead(alive.clone());
    let contained = Hello { pidns: Some(1), ..gone.clone() };
    let (now, later) = (Duration::ZERO, limits::CLOSED_LATELY);
    let cases = [
        ("connected", &gone, None, false, SessionEnd::Live),
        ("its process is gone", &gone, Some(now), true, SessionEnd::Over(Some(now))),
        (
            "its process is gone, nobody saw it",
            &gone,
            Some(now),
            false,
            SessionEnd::Over(Some(now)),
        ),
        ("its socket has just closed", &alive, Some(now), true, SessionEnd::Exiting),
        ("its process goes on", &alive, Some(later), true, SessionEnd::Live),
        ("its process may come back", &alive, Some(now), false, SessionEnd::Live),
        (
            "another container's, seen to close",
            &contained,
            Some(now),
            true,
            SessionEnd::Over(Some(now)),
        ),
        (
            "another container's, left by an earlier daemon",
            &contained,
            Some(now),
            false,
            SessionEnd::Live,
        ),
    ];
    for (case, hello, away, saw_it_close, expected) in cases {
        assert_eq!(judged(hello, away, saw_it_close).end(), expected, "{case}");
    }
    let restored = Liveness { is_restored: true, ..judged(&gone, Some(now), false) };
    assert_eq!(restored.end(), SessionEnd::Over(None), "it ended before this daemon began");
}

#[test]
fn a_session_is_shown_as_alive_unless_its_process_is_certainly_elsewhere_or_gone() {
    let alive = hello_from(std::path::Path::new("/"));
    let gone = dead(alive.clone());
    let contained = Hello { pidns: Some(1), ..alive.clone() };
    let away = Some(30 * limits::FOREIGN_GRACE);
    let cases = [
        ("connected", &gone, None, true),
        ("its process exists", &alive, away, true),
        ("its process is gone", &gone, Some(Duration::ZERO), false),
        ("in another container", &contained, Some(Duration::ZERO), false),
    ];
    for (case, hello, away, expected) in cases {
        assert_eq!(judged(hello, away, true).is_live(), expected, "{case}");
    }
}
