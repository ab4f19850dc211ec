//! A team's file of rules, as commands name it.

use super::*;

/// A rule without a mistake.
const RULE: &str = "[[rule]]\nid = \"friday\"\ntitle = \"No deploy\"\nreason = \"weekend\"\n\
                    effect = \"deny\"\nmatches = { commands = [\"make deploy\"] }\n";

/// Returns a project with a file of rules, and the argument that names it.
fn project(text: Option<&str>) -> (tempfile::TempDir, impl Fn() -> ProjectArg + use<>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".anchord")).unwrap();
    if let Some(text) = text {
        fs::write(folder.path().join(FILE), text).unwrap();
    }
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, move || ProjectArg { project: Some(path.clone()) })
}

#[test]
fn only_a_rule_that_is_in_the_file_is_said_to_be_there() {
    let refused = |text, id: &str| {
        let (folder, named) = project(text);
        let args = StandArgs { id: id.to_owned(), project: named(), json: false };
        let error = args.disable(&mut Vec::new()).unwrap_err();
        let place = folder.path().canonicalize().unwrap();
        (error.kind, error.message.replace(place.to_str().unwrap(), "/src"))
    };
    let there = "file:friday is a rule in /src/.anchord/rules.toml";
    assert_eq!(refused(Some(RULE), "file:friday"), (Kind::Usage, there.to_owned()));
    let absent = "there is no rule monday in /src/.anchord/rules.toml";
    assert_eq!(refused(Some(RULE), "file:monday"), (Kind::NotFound, absent.to_owned()));
    assert_eq!(refused(None, "file:monday"), (Kind::NotFound, absent.to_owned()));
    let (kind, broken) = refused(Some("rule = 1"), "file:friday");
    assert_eq!(kind, Kind::Failed);
    assert!(broken.starts_with("failed to read /src/.anchord/rules.toml: line 1, "), "{broken}");
}

#[test]
fn a_mistake_is_shown_with_the_file_of_the_named_project() {
    let (folder, named) = project(Some("rule = 1"));
    let mut out = Vec::new();
    LintArgs { project: named() }.run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let place = folder.path().canonicalize().unwrap().join(FILE);
    assert!(text.starts_with(&format!("{}: line 1, column ", place.display())), "{text}");
}
