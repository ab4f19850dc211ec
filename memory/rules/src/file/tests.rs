//! Rules files, sound and with faults.

use super::{parse_rules_file, render_rules_file};
use crate::{Day, Effect};

const SOUND: &str = r#"
[[rule]]
id = "no-friday-deploys"
title = "No production deploy on Fridays after 12:00"
reason = "nobody is there to repair it"
effect = "deny"
fail_closed = true
windows = [{ days = ["fri"], from = "12:00", tz = "Europe/Berlin" }]
[rule.matches]
commands = ["make deploy", "kubectl apply"]

[[rule]]
id = "freeze"
title = "Freeze"
effect = "ask"
expires = "2026-12-02T00:00:00Z"
windows = [{ from = "2026-11-20", until = "2026-12-01" }]
matches = { paths = ["migrations/**"], branches = ["main"] }
"#;

#[test]
fn a_file_is_read_and_written() {
    let rules = parse_rules_file(SOUND).unwrap();
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].effect, Effect::Deny);
    assert!(rules[0].fail_closed);
    assert_eq!(rules[0].windows[0].days, [Day::Fri]);
    assert_eq!(rules[1].windows[0].tz, "UTC");
    assert_eq!(parse_rules_file(&render_rules_file(&rules)).unwrap(), rules);
    assert_eq!(parse_rules_file(""), Ok(Vec::new()));
}

#[test]
fn every_fault_names_its_position() {
    let faults = |text: &str| {
        let faults = parse_rules_file(text).unwrap_err();
        faults.iter().map(|fault| (fault.line, fault.column)).collect::<Vec<_>>()
    };
    assert_eq!(faults("[[rule]\n"), [(1, 8)]);
    assert_eq!(faults("\nrules = 1\n"), [(2, 1)]);
    let effect = SOUND.replace("effect = \"ask\"", "effect = \"forbid\"");
    let at = effect.lines().position(|line| line.contains("forbid")).unwrap() + 1;
    assert_eq!(faults(&effect), [(at, 10)]);
    let unknown = SOUND.replace("commands =", "comands =");
    let at = unknown.lines().position(|line| line.contains("comands")).unwrap() + 1;
    assert_eq!(faults(&unknown), [(at, 1)]);
    let both = effect.replace("commands =", "comands =");
    assert_eq!(faults(&both).len(), 2, "the second fault is told with the first");
    let zone = parse_rules_file(&SOUND.replace("Europe/Berlin", "Berlin")).unwrap_err();
    assert_eq!(
        zone[0].to_string(),
        "line 2, column 1: no-friday-deploys: there is no time zone `Berlin`"
    );
    let several = SOUND.replace("\"make deploy\"", "\"cd x && make deploy\"");
    let several = parse_rules_file(&several).unwrap_err();
    assert!(several[0].to_string().starts_with("line 2, column 1: no-friday-deploys: `cd x && "));
    let twice =
        parse_rules_file(&SOUND.replace("\"freeze\"", "\"no-friday-deploys\"")).unwrap_err();
    assert_eq!(twice[0].what, "the id is repeated");
}
