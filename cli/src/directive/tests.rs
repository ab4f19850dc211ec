//! A block can be added to any file, and removing it restores the file.

use super::*;

const MARKERS: Markers =
    Markers { start: "<!-- anchord:start", end: "<!-- anchord:end -->", version: 1 };

fn block(mode: &str) -> String {
    format!("<!-- anchord:start v1 mode={mode} -->\nUse {mode}.\n<!-- anchord:end -->\n")
}

fn put(text: Option<&str>, mode: &str) -> String {
    let found = text.and_then(|text| find(text, MARKERS).unwrap());
    placed(text, found.as_ref(), &block(mode))
}

fn take(text: &str) -> Option<String> {
    removed(text, &find(text, MARKERS).unwrap().unwrap())
}

const FILES: [&str; 11] = [
    "",
    "\n",
    "\r\n",
    "# Rules",
    "# Rules\n",
    "# Rules\n\n",
    "# Rules\n\n\n",
    "# Rules\r\n\r\nBe kind.\r\n",
    "# Rules\r\n\r\nBe kind.",
    "\u{feff}# Zürich\n\tkeep  \n",
    "mixed\r\nends\nhere",
];

#[test]
fn removing_the_block_restores_the_text_exactly() {
    for text in FILES {
        let with = put(Some(text), "balanced");
        assert!(with.starts_with(text), "{text:?} stays in front");
        assert_eq!(take(&with).as_deref(), Some(text), "{with:?}");
    }
    assert_eq!(take(&put(None, "balanced")), None, "a file made for the block goes with it");
}

#[test]
fn writing_the_block_again_changes_nothing() {
    for text in FILES {
        let once = put(Some(text), "balanced");
        assert_eq!(put(Some(&once), "balanced"), once);
    }
}

#[test]
fn switching_the_mode_keeps_the_surrounding_text() {
    for text in FILES {
        let with = put(Some(text), "balanced") + "\nMine, added later\n";
        let switched = put(Some(&with), "conservative");
        assert_eq!(with.replace("balanced", "conservative"), switched);
        assert_eq!(
            find(&switched, MARKERS).unwrap().unwrap().mode.as_deref(),
            Some("conservative")
        );
    }
}

#[test]
fn line_breaks_match_the_file() {
    let with = put(Some("# Rules\r\n"), "balanced");
    assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
    let unix = put(Some("# Rules\n"), "balanced");
    assert!(!unix.contains('\r'), "{unix:?}");
}

#[test]
fn text_around_the_block_survives_its_removal() {
    let middle = format!("# A\n\n{}\n# B\n", block("balanced"));
    assert_eq!(take(&middle).as_deref(), Some("# A\n\n# B\n"));
    let first = format!("{}# B\n", block("balanced"));
    assert_eq!(take(&first).as_deref(), Some("# B\n"));
    let tight = format!("# A\n{}# B\n", block("balanced"));
    assert_eq!(take(&tight).as_deref(), Some("# A\n# B\n"));
}

#[test]
fn broken_markers_are_reported_by_line() {
    let start = "<!-- anchord:start v1 mode=balanced -->\n";
    let end = "<!-- anchord:end -->\n";
    let table = [
        (format!("a\n{start}b\n"), Broken::NoEnd(2)),
        (format!("a\n\n{end}"), Broken::NoStart(3)),
        (format!("{start}{start}{end}"), Broken::Twice(2)),
        (format!("{start}{end}{start}{end}"), Broken::Twice(3)),
        (format!("{start}{end}{end}"), Broken::NoStart(3)),
        (format!("<!-- anchord:start v2 mode=x -->\n{end}"), Broken::Newer(2)),
    ];
    for (text, broken) in table {
        assert_eq!(find(&text, MARKERS), Err(broken), "{text:?}");
    }
}

#[test]
fn a_marker_inside_a_sentence_counts_as_text() {
    let text = "Look for `<!-- anchord:start v1 -->` and <!-- anchord:end -->.\n";
    assert_eq!(find(text, MARKERS), Ok(None));
    assert_eq!(take(&put(Some(text), "balanced")).as_deref(), Some(text));
}

#[test]
fn a_block_without_a_mode_or_version_counts_as_the_first_version() {
    let text = "<!-- anchord:start -->\r\nx\r\n<!-- anchord:end -->";
    let found = find(text, MARKERS).unwrap().unwrap();
    assert_eq!(found.mode, None);
    assert_eq!(
        placed(Some(text), Some(&found), &block("balanced")),
        "<!-- anchord:start v1 mode=balanced -->\r\nUse balanced.\r\n<!-- anchord:end -->"
    );
}

#[test]
fn an_ignore_line_is_added_once_and_can_be_removed() {
    const LINE: &str = "# anchord\n.anchord/";
    const SAME: &[&str] = &[".anchord", ".anchord/", "/.anchord/"];
    for text in ["", "target\n", "target", "target\r\n*.log\r\n", "\n", "target\n\n"] {
        let with = with_line(Some(text), LINE, SAME).unwrap();
        assert_eq!(with_line(Some(&with), LINE, SAME), None, "once");
        assert_eq!(without_line(&with, LINE), Without::Left(text.to_owned()), "{with:?}");
    }
    let made = with_line(None, LINE, SAME).unwrap();
    assert_eq!(made, "# anchord\n.anchord/\n");
    assert_eq!(without_line(&made, LINE), Without::NothingLeft);
    assert_eq!(with_line(Some("/.anchord/\n"), LINE, SAME), None, "the user's own line is enough");
    assert_eq!(without_line("/.anchord/\n", LINE), Without::NotThere, "and stays");
}
