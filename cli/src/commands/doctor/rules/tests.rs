//! A file of rules that is broken, sound or missing.

use super::*;
use crate::commands::doctor::Severity;

#[test]
fn a_broken_file_is_a_problem_with_its_position() {
    let project = tempfile::tempdir().unwrap();
    let found = || findings(Some(project.path()), None);
    assert_eq!(found(), [], "there is no file");
    let file = project.path().join(FILE);
    fs::create_dir(file.parent().unwrap()).unwrap();
    let sound =
        "[[rule]]\nid = \"a\"\ntitle = \"A\"\neffect = \"deny\"\nmatches.commands = [\"a\"]\n";
    fs::write(&file, sound).unwrap();
    assert_eq!(found(), [], "it is sound");
    let broken = sound.replace("deny", "denny");
    fs::write(&file, format!("{broken}\n{broken}")).unwrap();
    let [finding] = &found()[..] else { panic!("{:?}", found()) };
    assert_eq!(finding.severity, Severity::Problem);
    let place = format!("{}: line 4, column 10: a: ", file.display());
    assert!(finding.what.starts_with(&place), "{}", finding.what);
    let action = finding.action.as_deref().unwrap();
    assert!(action.contains("asks a person") && action.contains("1 more mistake"), "{action}");
    fs::write(&file, b"\xff").unwrap();
    assert!(found()[0].what.starts_with("cannot read "), "{:?}", found());
}
