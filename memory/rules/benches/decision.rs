//! Measures one decision: 100 rules, and commands of several sizes.

use anchord_rules::{Action, Effect, Matches, Rule, check};
use divan::Bencher;

fn main() {
    divan::main();
}

/// Returns 100 rules, as many teams together might have.
fn rules() -> Vec<Rule> {
    let rule = |number: usize| {
        let (mut commands, mut paths) = (Vec::new(), Vec::new());
        if number.is_multiple_of(4) {
            paths.push(format!("services/part-{number}/**/*.sql"));
        } else {
            commands.push(format!("git push --option-{number}"));
            commands.push(format!("tool-{number} deploy production"));
        }
        Rule {
            id: format!("rule-{number}"),
            title: format!("Rule {number}"),
            reason: "a reason".to_owned(),
            effect: if number.is_multiple_of(2) { Effect::Deny } else { Effect::Ask },
            matches: Matches { commands, paths, ..Matches::default() },
            windows: Vec::new(),
            expires: None,
            fail_closed: false,
        }
    };
    (0..100).map(rule).collect()
}

const COMMANDS: [&str; 4] = [
    "git status",
    "cd src && cargo test 2>&1 | tail -5; git add -A && git commit -m \"area: change\" && git push",
    "for f in $(git ls-files); do sudo sh -c \"sed -i 's/a/b/' $f && git -C dir push origin main\"; done",
    "cat <<'E' > x.sh\ngit push\nE\nbash x.sh && f() { git \"$@\"; } && f push && echo done | xargs -n 1 echo",
];

#[divan::bench(args = 0..COMMANDS.len())]
fn a_decision(bencher: Bencher<'_, '_>, command: usize) {
    let rules = rules();
    let action = Action { command: COMMANDS.get(command).copied(), ..Action::default() };
    let now = jiff::Timestamp::UNIX_EPOCH;
    bencher.bench_local(|| check(divan::black_box(&rules), divan::black_box(&action), now));
}
