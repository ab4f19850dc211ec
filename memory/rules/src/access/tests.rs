//! A rule about writing, against commands and paths that read, write, or may do either.

use jiff::Timestamp;

use crate::{Access, Action, Effect, Matches, Rule, check, lint, parse_rules_file};

fn rules(effect: Effect) -> [Rule; 1] {
    let matches = Matches { writes: vec!["migrations/**".to_owned()], ..Matches::default() };
    [Rule {
        id: "final".to_owned(),
        title: "Migrations are final".to_owned(),
        reason: "add a new one".to_owned(),
        effect,
        matches,
        windows: Vec::new(),
        expires: None,
        fail_closed: false,
    }]
}

fn effect(command: &str) -> Effect {
    let action = Action { command: Some(command), ..Action::default() };
    check(&rules(Effect::Deny), &action, Timestamp::UNIX_EPOCH).effect
}

#[test]
fn commands_that_read_pass() {
    for command in [
        "cat migrations/1.sql",
        "sudo cat migrations/1.sql",
        "grep -rio select migrations | head",
        "cd migrations && ls -l && wc -l 1.sql",
        "sed -n 1,20p migrations/1.sql",
        "sed -e 's/i/o/' migrations/1.sql",
        "sort migrations/1.sql | uniq -c",
        "find migrations -name '*.sql'",
        "git add migrations/1.sql && git commit -m x migrations/1.sql",
        "git diff HEAD -- migrations",
        "git log --oneline migrations/1.sql",
        "cp migrations/1.sql /tmp/",
        "cp -r migrations backup",
        "dd if=migrations/1.sql of=x",
        "diff <(cat migrations/1.sql) x",
        "wc < migrations/1.sql",
        "bash migrations/check.sh",
        "timeout 5 sh -c 'head migrations/1.sql'",
        "echo migrations/1.sql",
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: src/a.rs\n+migrations/1.sql\n*** End Patch\nE",
    ] {
        assert_eq!(effect(command), Effect::Allow, "{command}");
    }
}

#[test]
fn commands_that_write_are_denied() {
    for command in [
        "rm migrations/1.sql",
        "rm -r migrations",
        "sudo tee migrations/1.sql",
        "echo x > migrations/1.sql",
        "echo x >> ./migrations/1.sql",
        "cat x &> migrations/1.sql",
        "exec 3<> migrations/1.sql",
        "cd migrations && touch 2.sql",
        "cd migrations; echo x > 2.sql",
        "sed -i 's/a/b/' migrations/1.sql",
        "sed -ni.bak p migrations/1.sql",
        "sed --in-place s/a/b/ migrations/1.sql",
        "sort -o migrations/1.sql x",
        "cp x migrations/1.sql",
        "cp x y migrations/",
        "mv migrations/1.sql x",
        "ln -sf x migrations/1.sql",
        "dd if=x of=migrations/1.sql",
        "git checkout main -- migrations/1.sql",
        "git rm migrations/1.sql",
        "cat migrations/1.sql && rm migrations/1.sql",
        "sh -c 'truncate -s 0 migrations/1.sql'",
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: migrations/1.sql\n*** End Patch\nE",
        "git apply <<'E'\n--- a/migrations/1.sql\n+++ b/migrations/1.sql\nE",
    ] {
        assert_eq!(effect(command), Effect::Deny, "{command}");
    }
}

#[test]
fn commands_that_may_write_are_asked_about() {
    for command in [
        "psql -f migrations/1.sql",
        "python gen.py migrations/1.sql",
        "bash gen.sh migrations/1.sql",
        "find migrations -delete",
        "find migrations -name '*.sql' -exec rm {} +",
        "cp -t migrations x",
        "rsync -at x migrations",
        "sort $FLAGS migrations/1.sql",
        "git diff --output=migrations/1.sql",
        "git $X migrations/1.sql",
        "strace -o migrations/log true",
        "$TOOL migrations/1.sql",
        "rm migr*/1.sql",
        "cat 'migrations/1.sql",
    ] {
        assert_eq!(effect(command), Effect::Ask, "{command}");
    }
    let action = Action { command: Some("psql -f migrations/1.sql"), ..Action::default() };
    let verdict = check(&rules(Effect::Allow), &action, Timestamp::UNIX_EPOCH);
    assert_eq!(verdict.deciding, [], "what may not match does not allow");
}

#[test]
fn a_tools_paths_count_by_what_the_tool_does() {
    let file = ["/repo/migrations/1.sql".to_owned()];
    let effect = |paths, writes, access| {
        let action = Action { paths, writes, access, ..Action::default() };
        check(&rules(Effect::Deny), &action, Timestamp::UNIX_EPOCH).effect
    };
    assert_eq!(effect(&file, &[], Access::Read), Effect::Allow);
    assert_eq!(effect(&file, &[], Access::Unknown), Effect::Ask);
    assert_eq!(effect(&file, &file, Access::Read), Effect::Deny);
    assert_eq!(effect(&[], &file, Access::Read), Effect::Deny, "a write needs no other mention");
}

#[test]
fn a_file_of_rules_has_writes_and_their_mistakes_are_found() {
    let text = |glob: &str| {
        format!(
            "[[rule]]\nid = \"a\"\ntitle = \"t\"\neffect = \"deny\"\nmatches.writes = [\"{glob}\"]\n"
        )
    };
    let read = parse_rules_file(&text("migrations/**")).unwrap();
    assert_eq!(read[0].matches.writes, ["migrations/**"]);
    let faults = parse_rules_file(&text("migrations/[")).unwrap_err();
    assert!(faults[0].what.contains("is not a valid glob of a written path"), "{faults:?}");
    let broad = parse_rules_file(&text("**")).unwrap();
    let found = lint(&broad[0], Timestamp::UNIX_EPOCH);
    assert_eq!(found[0].to_string(), "`**` matches every written path");
}
