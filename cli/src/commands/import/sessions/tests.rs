//! What is read and what is left out, and the plan in words.

use std::fs::{self, File};

use super::*;

fn transcript(directory: &Path, name: &str, text: &str) {
    let folder = directory.join(".claude/projects/-src-app");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
    File::options()
        .write(true)
        .open(folder.join(name))
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH)
        .unwrap();
}

fn asked(cwd: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"cwd\":\"{cwd}\",\"message\":{{\"content\":\"do it\"}}}}\nno json\n"
    )
}

#[test]
fn sessions_that_go_on_and_those_elsewhere_are_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    transcript(scratch.path(), "1.jsonl", &asked("/src/app"));
    transcript(scratch.path(), "2.jsonl", &asked("/src/lib"));
    transcript(scratch.path(), "3.jsonl", "{\"type\":\"user\",\"cwd\":\"/src/app\"}\n");
    let found = Places::of(scratch.path()).transcripts();
    let found: Vec<Transcript> =
        found.into_iter().filter(|found| found.path.starts_with(scratch.path())).collect();
    let later = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
    let all = read(&found, None, later);
    assert_eq!(all.sessions.len(), 2);
    let tally = Tally { transcripts: 3, empty: 1, unread_lines: 2, ..Tally::default() };
    assert_eq!(all.tally, tally);
    let one = read(&found, Some(Path::new("/src/lib")), later);
    assert_eq!((one.sessions.len(), one.tally.transcripts), (1, 1));
    let now = read(&found, None, SystemTime::UNIX_EPOCH + Duration::from_secs(10));
    assert_eq!((now.sessions.len(), now.tally.going_on), (0, 3));
}

fn project(root: &str, added: u32, known: u32) -> PastSessionsProject {
    PastSessionsProject { project: None, root: root.to_owned(), added, known, empty: 0 }
}

fn left_out(cwd: &str, sessions: u32) -> PastSessionsLeftOut {
    PastSessionsLeftOut { cwd: cwd.to_owned(), why: "is gone".to_owned(), sessions }
}

#[test]
fn a_plan_says_what_is_new_and_what_is_left_out() {
    let mut sum = Sum::default();
    let remarks = vec!["secrets were taken out: password".to_owned()];
    for (added, known) in [(3, 1), (2, 0)] {
        sum.add(PastSessionsReply {
            projects: vec![project("/home/me/src/parser", added, known)],
            left_out: vec![left_out("/home/me/old", 2)],
            remarks: remarks.clone(),
        });
    }
    let tally = Tally { transcripts: 14, going_on: 1, empty: 3, unreadable: 0, unread_lines: 1 };
    let mut out = anstream::StripStream::new(Vec::new());
    show_plan(&mut out, &sum.total(), &tally, Path::new("/home/me")).unwrap();
    insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap(), @r"
    14 transcripts read
      project       sessions  new
      ~/src/parser         6    5
      left out: 4 sessions of ~/old, which is gone
      1 transcript written to just now, maybe still going on: left out
      3 transcripts without a prompt or an edit: left out
      1 line passed over: no JSON, or too long
      secrets were taken out: password
    ");
    let mut out = Vec::new();
    show_plan(&mut out, &PastSessionsReply::default(), &Tally::default(), Path::new("/")).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"no transcripts of Claude Code or Codex were found");
}

#[test]
fn directories_beyond_the_first_few_are_counted() {
    let mut sum = Sum::default();
    let left_out = (0..12).map(|at| left_out(&format!("/gone/{at:02}"), 2)).collect();
    sum.add(PastSessionsReply { left_out, ..PastSessionsReply::default() });
    let tally = Tally { transcripts: 24, ..Tally::default() };
    let mut out = Vec::new();
    show_plan(&mut out, &sum.total(), &tally, Path::new("/")).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.ends_with("left out: 4 sessions of 2 more directories; --json names them\n"),
        "{text}"
    );
}
