//! The times and directories of transcripts. Their lines are read with those of all clients.

use super::*;

#[test]
fn a_prompts_time_is_read_with_its_zone() {
    let read = |text: &str| time_of(text).map(Timestamp::iso);
    let iso = |text: &str| Some(text.to_owned());
    assert_eq!(read("Friday, Jul 31, 2026, 5:10 PM (UTC-5)"), iso("2026-07-31T22:10:00.000Z"));
    assert_eq!(read("Sunday, Sep 20, 2026, 12:31 AM (UTC+3)"), iso("2026-09-19T21:31:00.000Z"));
    assert_eq!(read("Monday, Nov 2, 2026, 9:05 AM (UTC+5:30)"), iso("2026-11-02T03:35:00.000Z"));
    assert_eq!(read("Monday, Nov 2, 2026, 9:05 AM (UTC-3:30)"), iso("2026-11-02T12:35:00.000Z"));
    assert_eq!(read("Monday, Nov 2, 2026, 9:05 AM (UTC)"), iso("2026-11-02T09:05:00.000Z"));
    for text in ["", "yesterday", "Friday, Jul 31, 2026, 5:10 PM", "Friday, Jul 31 (UTC+99999)"] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_prompt_is_found_with_and_without_its_tags() {
    assert_eq!(
        asked("<timestamp>x</timestamp>\n<user_query>\nfix it\n</user_query>"),
        Some("fix it")
    );
    assert_eq!(asked("fix it"), Some("fix it"));
    assert_eq!(asked("<system_reminder>Be brief.</system_reminder>"), None);
}

#[test]
fn a_directory_is_found_by_its_folders_name() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("my.code/web-shop/api");
    fs::create_dir_all(&path).unwrap();
    fs::create_dir_all(scratch.path().join("my.code/web")).unwrap();
    fs::write(scratch.path().join("my"), "not a directory").unwrap();
    let found = |name: &str| directory_named(scratch.path(), name);
    assert_eq!(found("my-code-web-shop-api"), Some(path.clone()));
    assert_eq!(found("my-code-web"), Some(scratch.path().join("my.code/web")));
    assert_eq!(found("my-code-web-shop-gone"), None);
}

#[test]
fn the_command_lines_own_file_names_the_directory() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join(".cursor");
    let about = root.join("chats/77ab/c1");
    fs::create_dir_all(&about).unwrap();
    fs::write(about.join("meta.json"), r#"{"cwd": "/src/gone", "hasConversation": true}"#).unwrap();
    let path = |id: &str| root.join(format!("projects/src-gone/agent-transcripts/{id}/{id}.jsonl"));
    assert_eq!(origin(&path("c1")).cwd.as_deref(), Some("/src/gone"));
    assert_eq!(origin(&path("c2")).cwd, None, "no such directory, and no such file");
    assert_eq!(origin(&path("c2")).session.as_deref(), Some("c2"));
}
