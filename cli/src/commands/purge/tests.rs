//! The plan that is shown before a purge.

use anchord_daemon::api::{ProjectRef, PurgedStatus};

use super::*;

fn plan() -> PurgeReply {
    PurgeReply {
        project: ProjectRef { id: String::new(), root: "/src/parser".to_owned() },
        applied: false,
        revision: None,
        team: false,
        records: vec![
            PurgedStatus { id: "b3".into(), versions: 1, title: "deploys\u{1b}[2J".into() },
            PurgedStatus { id: "n12".into(), versions: 14, title: "a note".into() },
        ],
        checkpoints: 2,
        replies: 1,
        elsewhere: vec!["l3".to_owned(), "s4".to_owned()],
        files: 3,
        shared: vec![".anchord/memory/note/0123456789ab-db.md".to_owned()],
        failed: Vec::new(),
        asides: Vec::new(),
        already: vec!["n7".to_owned()],
    }
}

fn shown(plan: &PurgeReply) -> String {
    let mut out = Vec::new();
    show_plan(&mut out, plan).unwrap();
    anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
}

#[test]
fn a_text_is_read_whole_except_for_its_final_line_break() {
    for (given, text) in [
        ("hunter2", "hunter2"),
        ("hunter2\n", "hunter2"),
        ("a: 1\r\nb: 2\r\n", "a: 1\r\nb: 2"),
        (" a\n\n", " a\n"),
        ("\n", ""),
        ("", ""),
    ] {
        assert_eq!(text_in(given.as_bytes()).unwrap(), text, "{given:?}");
    }
    let long = vec![b'x'; usize::try_from(PURGE_QUERY_BYTES_MAX).unwrap()];
    assert_eq!(text_in(long.as_slice()).unwrap().len(), long.len());
    let error = text_in([&long[..], b"\n"].concat().as_slice()).unwrap_err();
    assert!(error.message.contains("1048576 bytes"), "{error}");
    assert!(text_in(b"\xff\n".as_slice()).unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn a_plan_lists_what_is_removed_and_what_stays() {
    insta::assert_snapshot!(shown(&plan()), @r"
    This goes from /src/parser:
      id   versions
      b3          1  deploys\u{1b}[2J
      n12        14  a note
      what 2 checkpoints held of it
      what 3 other files held of it, such as logs
      the file .anchord/memory/note/0123456789ab-db.md
    Purged before: n7.
    l3 and s4 also contain the same text; name them to purge them, too.
    ");
    let one = PurgeReply { elsewhere: vec!["l3".to_owned()], ..plan() };
    let named = "l3 also contains the same text; name it to purge it, too.\n";
    assert!(shown(&one).ends_with(named), "{}", shown(&one));
}

#[test]
fn removed_files_are_named_with_what_stays() {
    let done = PurgeReply {
        applied: true,
        revision: Some(5),
        failed: vec!["/src/parser/.anchord/memory/note/abc.md".to_owned()],
        ..plan()
    };
    let mut out = Vec::new();
    show_result(&mut out, &done).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    purged as revision 5
    blackened in 3 other files
    removed .anchord/memory/note/0123456789ab-db.md
    Commit the removal. git's history and other branches keep what was committed of it; git's own tools
    rewrite them.
    NOT purged, look yourself: /src/parser/.anchord/memory/note/abc.md
    ");
}

#[test]
fn a_plan_in_a_team_says_where_else_the_records_go() {
    let plan = PurgeReply { team: true, ..plan() };
    let first =
        "This goes from /src/parser, from the team's database and from its other machines:\n";
    assert!(shown(&plan).starts_with(first), "{}", shown(&plan));
}

#[test]
fn an_empty_purge_is_reported() {
    let nothing = PurgeReply {
        records: Vec::new(),
        checkpoints: 0,
        replies: 0,
        elsewhere: Vec::new(),
        files: 0,
        shared: Vec::new(),
        already: Vec::new(),
        ..plan()
    };
    assert_eq!(shown(&nothing), "nothing to purge: no record, file or log contains the text\n");
    let again = PurgeReply { already: vec!["n32".to_owned(), "n33".to_owned()], ..nothing };
    assert_eq!(shown(&again), "Purged before: n32 and n33. Nothing is left to purge.\n");
}

#[derive(Debug, clap::Parser)]
struct Command {
    #[command(flatten)]
    args: Args,
}

fn target(words: &[&str]) -> Result<String, Error> {
    let words = std::iter::once(&"purge").chain(words);
    <Command as clap::Parser>::try_parse_from(words).unwrap().args.target()
}

#[test]
fn everything_goes_from_one_memory() {
    assert_eq!(target(&["u1", "u2"]).unwrap(), api::USER);
    let both = target(&["u1", "--project", "/", "--user"]).unwrap_err();
    assert!(both.message.contains("name two memories"), "{both}");
    let mixed = target(&["u1", "n3", "u2"]).unwrap_err();
    assert_eq!(
        mixed.action.unwrap(),
        "Purge them separately: `anchord purge u1 u2` takes your own notes off the disk."
    );
}
