//! Sessions that are read or left out, and the plan in words.

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
fn running_sessions_and_those_elsewhere_are_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    transcript(scratch.path(), "1.jsonl", &asked("/src/app"));
    transcript(scratch.path(), "2.jsonl", &asked("/src/lib"));
    transcript(scratch.path(), "3.jsonl", "{\"type\":\"user\",\"cwd\":\"/src/app\"}\n");
    let found = Places::by_variables(scratch.path(), |_| None).transcripts();
    let later = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
    let all = read(&found, None, later);
    assert_eq!(all.sessions.len(), 2);
    let Tally { transcripts, empty, unread_lines, .. } = all.tally;
    assert_eq!((transcripts, empty, unread_lines), (3, 1, 2));
    let one = read(&found, Some(Path::new("/src/lib")), later);
    assert_eq!((one.sessions.len(), one.tally.transcripts), (1, 1));
    let now = read(&found, None, SystemTime::UNIX_EPOCH + Duration::from_secs(10));
    assert_eq!((now.sessions.len(), now.tally.going_on), (0, 3));
}

fn project(root: &str, added: u32, known: u32) -> PastSessionsProject {
    let updated = known / 2;
    PastSessionsProject { project: None, root: root.to_owned(), added, updated, known, empty: 0 }
}

fn left_out(cwd: &str, sessions: u32) -> PastSessionsLeftOut {
    PastSessionsLeftOut { cwd: cwd.to_owned(), why: "is gone".to_owned(), sessions }
}

#[test]
fn a_plan_says_what_is_new_and_what_is_left_out() {
    let mut sum = Sum::default();
    let remarks = vec!["secrets were taken out: password".to_owned()];
    for (added, known) in [(3, 3), (2, 0)] {
        sum.add(PastSessionsReply {
            projects: vec![project("/home/me/src/parser", added, known)],
            left_out: vec![left_out("/home/me/old", 2)],
            remarks: remarks.clone(),
        });
    }
    let damaged = Damaged { path: "/home/me/x.jsonl".to_owned(), what: "is empty".to_owned() };
    let damaged = vec![damaged; 11];
    let tally = Tally { transcripts: 14, going_on: 1, empty: 3, unread_lines: 1, damaged };
    let mut out = anstream::StripStream::new(Vec::new());
    show_plan(&mut out, &sum.total(), &tally, Path::new("/home/me")).unwrap();
    insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap(), @r"
    14 transcripts read
      project       sessions  new  went on
      ~/src/parser         9    5        1
      left out: 4 sessions of ~/old, which is gone
      1 transcript written to just now, maybe still going on: left out
      3 transcripts without a prompt or an edit: left out
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      ~/x.jsonl: is empty
      1 transcript more with damage; --json names all
      secrets were taken out: password
    ");
    let mut out = Vec::new();
    show_plan(&mut out, &PastSessionsReply::default(), &Tally::default(), Path::new("/")).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"no transcripts of Claude Code, Codex, Gemini CLI, opencode, GitHub Copilot CLI, Qwen Code, Cline, Factory Droid, Kilo, pi or Cursor were found");
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

#[test]
fn damaged_transcripts_are_reported_and_the_rest_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join(".claude/projects/-src-app");
    let good = "{\"type\":\"user\",\"cwd\":\"/src/app\",\"message\":{\"content\":\"do it\"}}\n";
    transcript(scratch.path(), "good.jsonl", good);
    transcript(scratch.path(), "empty.jsonl", "");
    transcript(scratch.path(), "torn.jsonl", &format!("{good}{}", &good[..40]));
    transcript(scratch.path(), "bytes.jsonl", "");
    fs::write(
        folder.join("bytes.jsonl"),
        [b"{\"type\":\"user\",\"a\":\"\xff\"}\n", good.as_bytes()].concat(),
    )
    .unwrap();
    fs::create_dir(folder.join("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder.join("link.jsonl")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe.jsonl"), 0o600.into()).unwrap();
    let of_codex = scratch.path().join(".codex/sessions/2026/11/22");
    fs::create_dir_all(&of_codex).unwrap();
    fs::write(
        of_codex.join("rollout-bytes.jsonl"),
        b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"\xff\"}}\n",
    )
    .unwrap();
    let transcripts = Places::by_variables(scratch.path(), |_| None).transcripts();
    let later = SystemTime::now() + Duration::from_hours(1);
    let found = read(&transcripts, None, later);
    let said: Vec<String> = found
        .tally
        .damaged
        .iter()
        .map(|Damaged { path, what }| format!("{}: {what}", path.rsplit('/').next().unwrap()))
        .collect();
    assert_eq!(
        said,
        [
            "bytes.jsonl: 1 line is not JSON",
            "empty.jsonl: is empty",
            "folder.jsonl: cannot be read: it is not a regular file",
            "link.jsonl: cannot be read: No such file or directory (os error 2)",
            "pipe.jsonl: cannot be read: it is not a regular file",
            "torn.jsonl: the last line is torn",
            "rollout-bytes.jsonl: 1 line is not JSON",
        ]
    );
    assert_eq!((found.sessions.len(), found.tally.transcripts), (3, 8));
    let args = Args::agreed(None);
    let error = args
        .report(&mut Vec::new(), true, &found.tally, &PastSessionsReply::default())
        .unwrap_err();
    assert_eq!(error.kind.code(), 5);
}

#[test]
fn the_outcome_is_reported_in_one_line() {
    let reply = |added, updated| {
        let project = PastSessionsProject { updated, ..project("/p", added, 0) };
        PastSessionsReply { projects: vec![project], ..PastSessionsReply::default() }
    };
    assert_eq!(changed(&reply(0, 0)), None);
    assert_eq!(changed(&reply(0, 1)).unwrap(), "1 session went on: brought up to date");
    assert_eq!(changed(&reply(2, 0)).unwrap(), "imported 2 sessions into 1 project");
    assert_eq!(
        changed(&reply(2, 3)).unwrap(),
        "imported 2 sessions into 1 project, 3 sessions brought up to date"
    );
}

#[test]
fn the_faults_of_a_transcript_are_named() {
    let unread = Unread { no_json: 2, too_long: 0, torn: true };
    assert_eq!(faults(unread).unwrap(), "2 lines are not JSON, the last line is torn");
    let unread = Unread { too_long: 1, ..Unread::default() };
    assert_eq!(faults(unread).unwrap(), "1 line is longer than 17 MB");
    assert_eq!(faults(Unread::default()), None);
}
