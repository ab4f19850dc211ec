//! Conditions under which there is a pager.

use super::*;

#[test]
fn a_pager_is_for_terminals_and_can_be_turned_off() {
    assert_eq!(wanted(None, true), Some("less"));
    assert_eq!(wanted(Some(" most -s "), true), Some("most -s"));
    for off in ["", " ", "cat"] {
        assert_eq!(wanted(Some(off), true), None, "{off:?}");
    }
    assert_eq!(wanted(None, false), None);
    assert_eq!(wanted(Some("less"), false), None);
}

#[test]
fn a_pager_that_does_not_exist_is_no_pager() {
    assert!(start("/nonexistent/pager -R").is_none());
    assert!(start("less 'unclosed").is_none());
}

#[test]
fn without_a_pager_the_text_goes_out_as_it_is() {
    let mut out = Vec::new();
    // Tests have no terminal.
    if !std::io::stdout().is_terminal() {
        paged(&mut out, |out| Ok(writeln!(out, "text")?)).unwrap();
        assert_eq!(out, b"text\n");
    }
}

/// In a locale without UTF-8, less shows `…` as three bytes unless it is told.
#[test]
fn a_pager_reads_utf_8_in_every_locale_unless_its_user_says_otherwise() {
    let given = |set: &'static [&str]| {
        let command = prepared("less", |name| set.contains(&name)).unwrap();
        let charset = command.get_envs().find(|(name, _)| *name == "LESSCHARSET");
        charset.and_then(|(_, value)| value).map(|value| value.to_string_lossy().into_owned())
    };
    assert_eq!(given(&["LESS"]).as_deref(), Some("utf-8"));
    assert_eq!(given(&["LESSCHARSET"]), None);
    assert_eq!(given(&["LESSCHARDEF"]), None);
}
