//! The log of one project in a scratch directory.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

fn line(tool: &str) -> Retrieval {
    Retrieval { tool: tool.to_owned(), asked: json!({"query": "q"}), ..Retrieval::default() }
}

fn numbers(lines: &[Retrieval]) -> Vec<u64> {
    lines.iter().map(|line| line.number).collect()
}

#[test]
fn moments_are_found_by_their_names() {
    for moment in HookMoment::ALL {
        assert_eq!(HookMoment::named(moment.name()), Some(moment));
    }
    assert_eq!(HookMoment::named("memory_load"), None);
}

#[tokio::test]
async fn line_numbers_continue_after_a_restart_and_a_torn_line() {
    let dir = tempfile::tempdir().unwrap();
    let log = RetrievalLog::start();
    log.write(
        Some(dir.path().to_owned()),
        line("memory_load"),
        LoggedAnswer { text: "three short words".to_owned(), cause: None },
    );
    log.write(None, line("memory_status"), LoggedAnswer { text: "one".to_owned(), cause: None });
    log.flush().await;
    assert_eq!(log.tokens(), 4, "also of what belongs to no project yet");
    let newer = dir.path().join(NEWER);
    let text = std::fs::read_to_string(&newer).unwrap();
    insta::assert_snapshot!(text, @r#"{"number":1,"time":0,"session":"","client":"","tool":"memory_load","asked":{"query":"q"},"ids":[],"more":0,"tokens":3,"truncated":false,"refused":false,"micros":0}"#);
    std::fs::write(&newer, text + "{\"number\":2,\"ti").unwrap();

    let log = RetrievalLog::start();
    let dir = dir.path().to_owned();
    log.write(Some(dir.clone()), line("memory_get"), LoggedAnswer::default());
    let lines = log.read(dir.clone(), Start::Last, 10).await;
    assert_eq!(numbers(&lines), [1, 2]);
    assert_eq!(lines[1].tool, "memory_get");
    let after = |number| log.read(dir.clone(), Start::After(number), 1);
    assert_eq!(numbers(&after(0).await), [1], "no more than asked for");
    assert_eq!(numbers(&after(1).await), [2]);
    assert_eq!(numbers(&after(2).await), [0; 0]);
    assert_eq!(numbers(&log.read(dir.clone(), Start::Last, 1).await), [2]);
}

#[test]
fn two_private_files_of_limited_size_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::default();
    let long = Retrieval {
        asked: json!({"query": "ü".repeat(5_000)}),
        ids: vec!["n100000".to_owned(); RETRIEVAL_IDS_MAX + 7],
        ..line("memory_search")
    };
    for _ in 0..3_000 {
        writer.append(dir.path(), long.clone()).unwrap();
    }
    for file in files(dir.path()) {
        let metadata = std::fs::metadata(&file).unwrap();
        assert!(metadata.len() <= RETRIEVAL_FILE_BYTES_MAX, "{}", metadata.len());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    let [older, _] = files(dir.path());
    assert!(older.metadata().unwrap().len() > RETRIEVAL_FILE_BYTES_MAX - 10_000, "it is used");
    let lines = writer.read(dir.path(), Start::Last, usize::MAX);
    let last = lines.last().unwrap();
    assert_eq!(last.number, 3_000);
    assert!(lines.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
    assert_eq!((last.ids.len(), last.more), (RETRIEVAL_IDS_MAX, 7));
    assert!(last.asked.as_str().unwrap().ends_with("ü…"), "cut between characters");
}

#[test]
fn a_file_is_opened_once_a_batch_and_followed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::default();
    writer.append(dir.path(), line("memory_load")).unwrap();
    writer.append(dir.path(), line("memory_load")).unwrap();
    assert_eq!(writer.opened.len(), 1);
    let write = || Job::Write {
        directory: Some(dir.path().to_owned()),
        line: Box::new(Retrieval { ids: vec!["n1".to_owned()], ..line("memory_get") }),
        given: LoggedAnswer::default(),
    };
    let given = AtomicU64::default();
    assert_eq!(writer.serve_batch(vec![write(), write()], &given), 2);
    let kept = |writer: &mut Writer| numbers(&writer.read(dir.path(), Start::Last, 9));
    assert_eq!(kept(&mut writer), [1, 2, 3, 4]);
    let [_, newer] = files(dir.path());
    std::fs::rename(&newer, dir.path().join("elsewhere")).unwrap();
    writer.serve_batch(vec![write()], &given);
    assert_eq!(kept(&mut writer), [5]);
    std::fs::remove_file(&newer).unwrap();
    writer.serve_batch(vec![write()], &given);
    assert_eq!(kept(&mut writer), [6]);
    // A purge in the middle of a batch replaces the file.
    let (reply, _done) = oneshot::channel();
    let ids = BTreeSet::from(["n1".to_owned()]);
    let purge = Job::Forget { directory: dir.path().to_owned(), ids, reply };
    writer.serve_batch(vec![write(), purge, write()], &given);
    assert_eq!(kept(&mut writer), [6, 7, 8]);
    let lines = writer.read(dir.path(), Start::Last, 9);
    assert_eq!(
        lines.iter().map(|line| line.asked == GONE).collect::<Vec<_>>(),
        [true, true, false]
    );
}

#[tokio::test]
async fn a_removed_directory_is_not_recreated() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    let log = RetrievalLog::start();
    log.write(Some(gone.clone()), line("memory_load"), LoggedAnswer::default());
    assert_eq!(log.read(gone.clone(), Start::Last, 10).await, []);
    assert!(!gone.exists());
}

#[tokio::test]
async fn a_symlink_instead_of_the_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other");
    std::fs::write(&other, "mine\n").unwrap();
    std::os::unix::fs::symlink(&other, dir.path().join(NEWER)).unwrap();
    let log = RetrievalLog::start();
    log.write(Some(dir.path().to_owned()), line("memory_load"), LoggedAnswer::default());
    log.flush().await;
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine\n");
}

/// Returns what is still in memory, by session and number, newest first.
async fn recent(log: &RetrievalLog) -> Vec<(String, u64)> {
    let recent = log.recent().await;
    recent.into_iter().map(|recent| (recent.line.session, recent.line.number)).collect()
}

fn given(text: &str) -> LoggedAnswer {
    LoggedAnswer { text: text.to_owned(), cause: Some("a prompt".to_owned()) }
}

#[tokio::test]
async fn a_busy_session_does_not_displace_the_texts_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_owned();
    let log = RetrievalLog::start();
    let of = |session: &str| Retrieval { session: session.to_owned(), ..line("memory_load") };
    log.write(Some(dir.clone()), of("calm"), given("one"));
    for _ in 0..20 {
        log.write(Some(dir.clone()), of("busy"), given("two"));
    }
    log.write(
        Some(dir.clone()),
        Retrieval { client: COMMAND_LINE.to_owned(), ..of("cli") },
        given("three"),
    );
    log.write(Some(dir.clone()), of("silent"), LoggedAnswer::default());
    let kept = recent(&log).await;
    assert_eq!(kept.len(), TEXTS_OF_SESSION_MAX + 1, "{kept:?}");
    assert_eq!(kept.first(), Some(&("busy".to_owned(), 21)));
    assert_eq!(kept.last(), Some(&("calm".to_owned(), 1)));
    let text = std::fs::read_to_string(dir.join(NEWER)).unwrap();
    assert!(!text.contains("a prompt"), "texts and causes are in memory alone");
}

#[tokio::test]
async fn texts_take_a_bounded_room_and_a_purge_removes_those_of_its_project() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    for dir in [&one, &other] {
        std::fs::create_dir(dir).unwrap();
    }
    let log = RetrievalLog::start();
    let large = "x".repeat(TEXTS_BYTES_MAX / 4);
    for session in ["a", "b", "c", "d", "e"] {
        let line = Retrieval { session: session.to_owned(), ..line("memory_load") };
        log.write(Some(one.clone()), line, given(&large));
    }
    let kept = recent(&log).await;
    assert_eq!(
        kept.iter().map(|(session, _)| session.as_str()).collect::<Vec<_>>(),
        ["e", "d", "c"]
    );
    log.write(Some(other.clone()), line("memory_load"), given("small"));
    log.forget(one, BTreeSet::from(["n1".to_owned()])).await.unwrap();
    let kept = log.recent().await;
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].directory, other);
}

#[tokio::test]
async fn a_log_says_that_it_cannot_be_read_or_written() {
    let dir = tempfile::tempdir().unwrap();
    let log = RetrievalLog::start();
    let dir = dir.path().to_owned();
    let newer = dir.join(NEWER);
    let fault = async || log.fault(dir.clone()).await;
    let write = || log.write(Some(dir.clone()), line("memory_get"), LoggedAnswer::default());
    assert_eq!(fault().await, None, "nothing was logged yet");
    write();
    assert_eq!(fault().await, None);

    std::fs::remove_file(&newer).unwrap();
    std::fs::create_dir(&newer).unwrap();
    log.flush().await;
    let written = log.written();
    write();
    write();
    log.flush().await;
    // Once this is answered, all of an earlier batch is reported.
    log.flush().await;
    assert!(written.has_changed().unwrap(), "followers learn at once that lines are lost");
    let why = fault().await.unwrap();
    assert!(why.contains("no line can be added") && why.contains("Is a directory"), "{why}");
    std::fs::remove_dir(&newer).unwrap();
    // No read of it succeeds, for root either.
    std::os::unix::fs::symlink(&newer, &newer).unwrap();
    let why = fault().await.unwrap();
    assert!(why.contains("cannot read") && why.contains(NEWER), "{why}");
    std::fs::remove_file(&newer).unwrap();
    write();
    assert_eq!(fault().await, None, "it is written again");
    write();
    let lines = log.read(dir.clone(), Start::Last, 9).await;
    let lost: Vec<u64> = lines.iter().map(|line| line.lost.map_or(0, NonZeroU64::get)).collect();
    assert_eq!(lost, [2, 0], "the next line says how many are missing");

    let gone = dir.join("gone");
    log.write(Some(gone.clone()), line("memory_get"), LoggedAnswer::default());
    assert_eq!(log.fault(gone).await, None, "nothing is remembered there");
}
