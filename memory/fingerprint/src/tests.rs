//! Laws of fingerprints, and examples of each outcome.

use proptest::prelude::*;

use crate::{Fingerprint, Lines, Outcome, Source, check, search};

const CODE: &str = "\
use std::time::Duration;

/// Waits longer after each attempt.
fn backoff(attempt: u32) -> Duration {
    let base = Duration::from_millis(50);
    let factor = 2_u32.pow(attempt.min(6));
    base * factor + jitter()
}

fn jitter() -> Duration {
    let random = getrandom();
    Duration::from_millis(random % 20)
}

struct Retry {
    attempts: u32,
    wait: Duration,
}

impl Retry {
    fn new() -> Self {
        Self::default()
    }

    fn next(&mut self) -> Option<Duration> {
        self.attempts += 1;
        (self.attempts < 9).then(|| backoff(self.attempts))
    }
}
";

/// The lines of `backoff`, with its documentation.
const BACKOFF: Lines = Lines { first: 3, last: 8 };

fn print(text: &str, lines: Lines) -> Fingerprint {
    Fingerprint::capture(&Source::new(text), lines).unwrap()
}

#[track_caller]
fn expect(lines: Lines, now: &str, outcome: Outcome) {
    assert_eq!(check(&print(CODE, lines), lines.first, &Source::new(now)), outcome, "{now}");
}

fn lines(first: u32, last: u32) -> Lines {
    Lines { first, last }
}

#[test]
fn lines_that_are_where_they_were_are_fresh() {
    expect(BACKOFF, CODE, Outcome::Fresh);
    expect(BACKOFF, &CODE.replace("    ", "\t"), Outcome::Fresh);
    expect(BACKOFF, &CODE.replace("random % 20", "random % 30"), Outcome::Fresh);
    expect(lines(21, 23), CODE, Outcome::Fresh);
    expect(lines(8, 8), CODE, Outcome::Fresh);
}

#[test]
fn lines_that_moved_are_found() {
    expect(BACKOFF, &format!("//! Retries.\n\n{CODE}"), Outcome::Moved(lines(5, 10)));
    let cut = CODE.find("/// Waits").unwrap()..CODE.find("fn jitter").unwrap();
    let moved = format!("{}{}\n{}", &CODE[..cut.start], &CODE[cut.end..], &CODE[cut.clone()]);
    expect(BACKOFF, &moved, Outcome::Moved(lines(24, 29)));
}

#[test]
fn lines_that_changed_are_found_with_the_share_of_them() {
    let changed = CODE.replace("    base * factor + jitter()", "    base * factor");
    expect(BACKOFF, &changed, Outcome::Changed { lines: BACKOFF, percent: 16 });
    let grown = format!("// A line.\n{CODE}").replace("let base", "let more = 1;\n    let base");
    expect(BACKOFF, &grown, Outcome::Changed { lines: lines(4, 10), percent: 14 });
    let head = CODE.replace("fn backoff(attempt: u32)", "fn backoff(attempt: u32, most: Duration)");
    expect(lines(4, 8), &head, Outcome::Changed { lines: lines(4, 8), percent: 20 });
    let renamed = CODE.replace("fn backoff(", "fn delay(");
    expect(lines(4, 8), &renamed, Outcome::Changed { lines: lines(4, 8), percent: 20 });
}

#[test]
fn lines_that_were_removed_are_gone() {
    let cut = CODE.find("/// Waits").unwrap()..CODE.find("fn jitter").unwrap();
    let without = format!("{}{}", &CODE[..cut.start], &CODE[cut.end..]);
    expect(BACKOFF, &without, Outcome::Gone);
    expect(BACKOFF, "", Outcome::Gone);
}

#[test]
fn a_twin_at_the_old_place_is_not_fresh() {
    let twins = "\
struct Alpha;
impl Alpha {
    fn new() -> Self {
        Self::default()
    }
}
struct Beta;
impl Beta {
    fn new() -> Self {
        Self::default()
    }
}
";
    let alpha = print(twins, lines(3, 5));
    assert_eq!(check(&alpha, 3, &Source::new(twins)), Outcome::Fresh);
    // Alpha went behind Beta, so that Beta's function is where Alpha's was.
    let (one, other) = twins.split_at(twins.find("struct Beta").unwrap());
    let swapped = format!("{other}{one}");
    assert_eq!(check(&alpha, 3, &Source::new(&swapped)), Outcome::Moved(lines(9, 11)));
    // Alpha's function is another now; Beta's has the old text.
    let changed = swapped.replace(
        "Alpha {\n    fn new() -> Self {\n        Self::default()",
        "Alpha {\n    fn new() -> Self {\n        Self(3)",
    );
    let outcome = check(&alpha, 3, &Source::new(&changed));
    assert!(
        matches!(outcome, Outcome::Changed { lines: Lines { first: 9, last: 11 }, .. }),
        "{outcome:?}"
    );
    assert!(!matches!(check(&alpha, 3, &Source::new(other)), Outcome::Fresh | Outcome::Moved(_)));
}

#[test]
fn copies_without_surroundings_that_differ_are_not_told_apart() {
    let block = "    if error.is_some() {\n        return error;\n    }\n";
    let text = block.repeat(9);
    let print = print(&text, lines(13, 15));
    let outcome = check(&print, 13, &Source::new(&block.repeat(4)));
    assert!(matches!(outcome, Outcome::Unsure), "{outcome:?}");
}

#[test]
fn a_function_is_found_in_another_file() {
    let print = print(CODE, BACKOFF);
    let cut = &CODE[CODE.find("/// Waits").unwrap()..CODE.find("fn jitter").unwrap()];
    let other = format!("//! Delays.\n\nuse std::time::Duration;\n\nconst A: u32 = 1;\n\n{cut}");
    assert_eq!(search(&print, &Source::new(&other)), Outcome::Moved(lines(7, 12)));
    assert_eq!(search(&print, &Source::new("fn backoff() {}\n")), Outcome::Gone);
}

#[test]
fn a_long_range_is_sampled_and_still_compared_as_a_whole() {
    let text: String = (1..=1000).map(|line| format!("call_{line}({line});\n")).collect();
    let all = lines(1, 1000);
    let print = print(&text, all);
    assert!(print.text_bytes() <= crate::limits::TEXT_CHARS_MAX);
    assert_eq!(check(&print, 1, &Source::new(&text)), Outcome::Fresh);
    for line in [1, 2, 500, 999, 1000] {
        let changed = text.replace(&format!("call_{line}("), "other(");
        let outcome = check(&print, 1, &Source::new(&changed));
        assert!(matches!(outcome, Outcome::Changed { lines, .. } if lines == all), "{outcome:?}");
    }
    assert_eq!(
        check(&print, 1, &Source::new(&format!("\n{text}"))),
        Outcome::Moved(lines(2, 1001))
    );
}

#[test]
fn lines_that_are_not_there_or_blank_have_no_fingerprint() {
    let source = Source::new("a\n\n\nb\n");
    for (first, last) in [(0, 1), (2, 3), (4, 5), (9, 9), (3, 2), (1, u32::MAX)] {
        assert_eq!(Fingerprint::capture(&source, Lines { first, last }), None, "{first}-{last}");
    }
}

#[test]
fn a_fingerprint_is_read_back_and_has_no_text() {
    let print = print(CODE, BACKOFF);
    let json = serde_json::to_string(&print).unwrap();
    assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), print);
    assert!(json.len() <= print.text_bytes() + 2 && json.len() + 2 >= print.text_bytes());
    // Its form is kept on disk.
    assert_eq!(
        json,
        "\"Ad0N8uBCmXcuBgAAAAE_oN-gRSWBgwEABvl3uazn_1vEu7nziWcvJpr_PHvHptQrnQHzOCHOBGuS5bJHc8zbgxsR8abUK50\""
    );
    for wrong in ["\"\"", "\"AA\"", "\"Ag\"", "3", &format!("\"{}\"", "A".repeat(601))] {
        assert!(serde_json::from_str::<Fingerprint>(wrong).is_err(), "{wrong}");
    }
    for cut in 2..json.len() - 1 {
        assert!(serde_json::from_str::<Fingerprint>(&format!("{}\"", &json[..cut])).is_err());
    }
}

fn line(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

/// A text of short functions in which lines repeat, as in real code.
fn any_text() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        "[a-d]{1,2}".prop_map(|name| format!("    let {name} = {name}();")),
        Just("    return None;".to_owned()),
        Just("    }".to_owned()),
        Just(String::new()),
        "[a-z]{6}".prop_map(|name| format!("    {name}.run(4);")),
    ];
    let function = ("[a-d]", prop::collection::vec(line, 0..8)).prop_map(|(name, body)| {
        let head = [format!("fn {name}() {{")];
        head.into_iter().chain(body).chain(["}".to_owned(), String::new()]).collect::<Vec<_>>()
    });
    prop::collection::vec(function, 1..8).prop_map(|all| all.concat())
}

fn normal(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn some(of: &[String], at: Lines) -> Vec<String> {
    let (first, last) = (at.first as usize, at.last as usize);
    normal(&of[first - 1..last.min(of.len())])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn fresh_and_moved_lines_are_equal_to_the_last(
        before in any_text(),
        after in any_text(),
        (at, count) in (0_usize..40, 1_usize..12),
    ) {
        let first = at % before.len();
        let last = (first + count).min(before.len());
        let there = lines(line(first + 1), line(last));
        let source = before.join("\n");
        let Some(print) = Fingerprint::capture(&Source::new(&source), there) else { return Ok(()) };
        let was = some(&before, there);
        let text = after.join("\n");
        match check(&print, there.first, &Source::new(&text)) {
            Outcome::Fresh => prop_assert_eq!(some(&after, there), was),
            Outcome::Moved(lines) => prop_assert_eq!(some(&after, lines), was),
            Outcome::Changed { lines, percent } => {
                prop_assert!((1..=100).contains(&percent));
                prop_assert!(1 <= lines.first && lines.first <= lines.last);
                prop_assert!(lines.last as usize <= after.len());
            }
            Outcome::Gone | Outcome::Unsure => (),
        }
    }

    #[test]
    fn a_text_that_did_not_change_is_fresh_or_has_a_twin(
        text in any_text(),
        (at, count) in (0_usize..40, 1_usize..12),
    ) {
        let first = at % text.len();
        let last = (first + count).min(text.len());
        let there = lines(line(first + 1), line(last));
        let source = text.join("\n");
        let source = Source::new(&source);
        let Some(print) = Fingerprint::capture(&source, there) else { return Ok(()) };
        prop_assert_eq!(check(&print, there.first, &source), Outcome::Fresh);
    }

    #[test]
    fn lines_put_before_move_the_others_by_as_much(
        text in any_text(),
        number in 1_u32..30,
    ) {
        let body = format!("fn {}() {{\n    unique_call(1);\n    other_call(2);\n    third_call(3);\n    last_call(4);\n}}\n", "special");
        let text = format!("{}\n{body}{}", text.join("\n"), "fn z() {}\n");
        let first = line(text.lines().position(|it| it.contains("special")).unwrap() + 1);
        let there = lines(first, first + 5);
        let print = print(&text, there);
        let put: String = (0..number).map(|line| format!("// Line {line}.\n")).collect();
        let moved = lines(there.first + number, there.last + number);
        prop_assert_eq!(
            check(&print, there.first, &Source::new(&format!("{put}{text}"))),
            Outcome::Moved(moved)
        );
    }

    #[test]
    fn any_bytes_are_searched_without_a_panic(text in "\\PC{0,400}", other in "[ -~\n\t{}();]{0,400}") {
        for (one, two) in [(&text, &other), (&other, &text), (&other, &other)] {
            let source = Source::new(one);
            let all = lines(1, source.count().max(1));
            if let Some(print) = Fingerprint::capture(&source, all) {
                let _ = (check(&print, 1, &Source::new(two)), search(&print, &Source::new(two)));
            }
        }
    }
}
