//! The quoting of words, the programs that command lines run, and whose status the lines have.

use super::*;

#[test]
fn shell_words_are_quoted_where_needed() {
    assert_eq!(shell_word("/usr/bin/anchord"), "/usr/bin/anchord");
    assert_eq!(shell_word("/my tools/it's"), r"'/my tools/it'\''s'");
    assert_eq!(shell_word(""), "''");
    assert_eq!(shell_line(["run", "a b"]), "run 'a b'");
}

#[test]
fn a_status_of_another_command_is_recognised() {
    for hides in [
        "cargo test | tail -5",
        "cargo test 2>&1 | tail -20",
        "make check || true",
        "cargo test; echo done",
        "cargo test\necho $?",
        "npm run dev &",
    ] {
        assert!(hides_status(hides), "{hides}");
    }
    for tells in [
        "cargo test",
        "cargo test 2>&1",
        "cd app && npm test",
        "set -o pipefail; cargo test | tail -5",
        "export A=1; cargo test",
        "rg 'a | b' src",
        "echo \"a; echo b\"",
        "printf 'it''s' > a.txt",
        "make >& log",
    ] {
        assert!(!hides_status(tells), "{tells}");
    }
}

#[test]
fn commands_joined_by_and_are_separated() {
    assert_eq!(
        joined("pip install freezegun && pytest -q"),
        ["pip install freezegun", "pytest -q"]
    );
    assert_eq!(joined("a && b || c"), ["a && b || c"], "one of them may have failed");
    assert_eq!(joined("git commit -m 'a && b'"), ["git commit -m 'a && b'"]);
    assert_eq!(joined("cargo test"), ["cargo test"]);
}

#[test]
fn a_program_and_its_subcommand_are_found() {
    let found = |line| subjects(line).into_iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    for (line, expected) in [
        ("kubectl apply -f k8s/api.yaml", vec!["kubectl apply"]),
        ("alembic upgrade head", vec!["alembic upgrade head"]),
        ("RUST_LOG=debug sudo -E ./scripts/deploy.sh --prod", vec!["deploy.sh"]),
        ("uv run pytest tests/test_api.py", vec!["pytest"]),
        ("python -m pytest -x", vec!["pytest"]),
        ("timeout 60 npm run build:web", vec!["npm run build:web"]),
        ("cat a && make release", vec!["make release"]),
        ("ls -la", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(line), expected, "{line}");
    }
}
