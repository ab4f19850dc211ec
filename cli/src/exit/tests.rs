//! Exit codes are stable, because scripts rely on them.

use anchord_memory::Shell;

use super::*;

#[test]
fn every_kind_has_its_documented_code() {
    let table = [
        (Kind::ReaderGone, 0),
        (Kind::Failed, 1),
        (Kind::Usage, 2),
        (Kind::NoDaemon, 3),
        (Kind::Passing, 3),
        (Kind::Unreachable, 3),
        (Kind::Refused, 4),
        (Kind::Damaged, 5),
    ];
    for (kind, code) in table {
        assert_eq!(kind.code(), code, "{kind:?}");
        assert!(AFTER_HELP.contains(&format!("\n  {code}  ")), "{code} is in the help");
    }
}

#[test]
fn the_daemons_errors_keep_their_meaning() {
    let table = [
        (ErrorCode::BadRequest, 2),
        (ErrorCode::NotFound, 1),
        (ErrorCode::Refused, 4),
        (ErrorCode::Damaged, 5),
        (ErrorCode::Busy, 1),
        (ErrorCode::Internal, 1),
    ];
    for (code, exit) in table {
        assert_eq!(Kind::from(code).code(), exit, "{code:?}");
    }
}

#[test]
fn an_error_says_what_to_do_on_its_own_line() {
    let error = Error::usage("no such project").with_action("Run `anchord project list`.");
    insta::assert_snapshot!(error, @r"
    error: no such project
      Run `anchord project list`.
    ");
}

#[test]
fn a_closed_reader_is_not_a_failure() {
    let gone = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
    assert_eq!(gone.kind.code(), 0);
    let full = Error::from(io::Error::from(io::ErrorKind::StorageFull));
    assert_eq!(full.kind.code(), 1);
}

#[test]
fn the_daemons_advice_names_the_memory() {
    let typed = ["journal", "rebuild", "--project", "/src/my parser"].map(str::to_owned).into();
    let person = Audience::Person(Shell { typed });
    let advice = "`anchord journal repair` shows what can be restored".to_owned();
    assert_eq!(
        naming_memory(advice, &person),
        "`anchord journal repair --project '/src/my parser'` shows what can be restored"
    );
}
