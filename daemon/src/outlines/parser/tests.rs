//! A parser that fails in every way.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn rust() -> &'static Language {
    Language::by_id("rust").unwrap()
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = Parser::of_program("/nowhere/anchord").parse(rust(), "fn a() {}").await;
    assert!(matches!(error, Err(ParseError::Io(_))), "{error:?}");
}

#[tokio::test]
async fn a_program_that_fails_or_answers_nonsense_is_an_error() {
    // It reads nothing of a text that is longer than a pipe holds.
    let text = "fn a() {}\n".repeat(100_000);
    let error = Parser::of_program("false").parse(rust(), &text).await;
    assert!(matches!(error, Err(ParseError::Failed(_))), "{error:?}");
    let error = Parser::of_program("echo").parse(rust(), &text).await;
    assert!(matches!(error, Err(ParseError::Unreadable(_))), "{error:?}");
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let error = Parser::of_program("yes").parse(rust(), "fn a() {}").await;
    assert!(matches!(error, Err(ParseError::Failed(_))), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_hangs_is_given_up() {
    let scratch = tempfile::tempdir().unwrap();
    let script = scratch.path().join("hangs");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let error = Parser::of_program(script.to_str().unwrap()).parse(rust(), "fn a() {}").await;
    assert!(matches!(error, Err(ParseError::TooSlow)), "{error:?}");
}
