//! Names of projects and sessions.

use super::*;

const ID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

fn named(named: Option<&str>, variables: &[(&str, &str)]) -> (Option<String>, bool) {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let mut hello = Hello::new(Role::Mcp, Uuid::nil(), 1);
    name_project(&mut hello, named.map(Path::new), variable);
    (hello.project, hello.by_agent)
}

fn check(name: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
    assert_eq!(named(name, variables).0.as_deref(), expected);
}

#[test]
fn an_id_named_by_the_user_is_passed_unchanged() {
    check(Some(ID), &[], Some(ID));
    check(None, &[("ANCHORD_PROJECT", ID)], Some(ID));
}

#[test]
fn the_agents_directory_does_not_count_as_named_by_the_user() {
    let agents = ("CLAUDE_PROJECT_DIR", "/c");
    assert_eq!(named(None, &[agents]), (Some("/c".to_owned()), true));
    assert_eq!(named(None, &[("ANCHORD_PROJECT", "/b"), agents]), (Some("/b".to_owned()), false));
    assert_eq!(named(Some("/a"), &[agents]), (Some("/a".to_owned()), false));
    assert_eq!(named(None, &[]), (None, false));
}

#[test]
fn a_directory_is_made_absolute() {
    let here = env::current_dir().unwrap();
    let below = here.join("below").into_os_string().into_string().unwrap();
    check(Some("below"), &[], Some(&below));
    check(None, &[("ANCHORD_PROJECT", "below")], Some(&below));
    // A directory whose name is an id is named by its path.
    let like_id = here.join(ID).into_os_string().into_string().unwrap();
    check(Some(&format!("./{ID}")), &[], Some(&like_id));
}

#[test]
fn all_paths_to_a_directory_give_the_same_name() {
    let scratch = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(scratch.path()).unwrap();
    let real = root.join("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, root.join("link")).unwrap();
    for name in ["real", "real/", "real/../real", "link", "link/"] {
        let named = root.join(name);
        check(named.to_str(), &[], real.to_str());
    }
}

#[test]
fn the_command_line_takes_precedence_and_a_project_is_optional() {
    let both = [("CLAUDE_PROJECT_DIR", "/c"), ("ANCHORD_PROJECT", "/b")];
    check(Some("/a"), &both, Some("/a"));
    check(None, &both, Some("/b"));
    check(None, &both[..1], Some("/c"));
    check(None, &[], None);
}

#[test]
fn the_session_of_an_outer_agent_is_not_adopted() {
    let check = |variables: &[(&str, &str)], expected: Option<&str>| {
        let found = Environment::session_in(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        assert_eq!(found.as_deref(), expected, "{variables:?}");
    };
    let claude = ("CLAUDE_CODE_SESSION_ID", "c");
    check(&[], None);
    check(&[claude], Some("c"));
    check(&[claude, ("GEMINI_CLI", "1")], None);
    check(&[claude, ("OPENCODE", "1")], None);
    check(&[claude, ("GEMINI_SESSION_ID", "g"), ("GEMINI_CLI", "1")], Some("g"));
}
