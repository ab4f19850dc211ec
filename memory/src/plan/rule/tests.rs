//! Rules in force: accepted, not expired, and within their windows.

use super::*;
use crate::check_action;
use crate::rules::{Action, Effect, Window};
use crate::testing::{apply, day, origin, rule};

fn set(memory: &mut Memory, rule: Rule, author: RuleAuthor) -> RuleOutcome {
    let plan = plan_rule(memory, rule, author, &origin("s", 1)).unwrap();
    apply(memory, plan)
}

fn pushed(memory: &Memory, at: Timestamp) -> Effect {
    let action = Action { command: Some("git push --force"), ..Action::default() };
    check_action(&rules_in_force(memory, at), &action, at).effect
}

#[test]
fn a_rule_is_in_force_once_accepted_and_until_disabled() {
    let mut memory = Memory::default();
    let RuleOutcome { id, .. } = set(&mut memory, rule("No force push", "no"), RuleAuthor::Agent);
    assert_eq!(pushed(&memory, day(2)), Effect::Allow, "it is proposed");
    for (standing, effect) in
        [(Standing::Accepted, Effect::Deny), (Standing::Disabled, Effect::Allow)]
    {
        let plan = plan_rule_standing(&memory, id, standing, &origin("s", 1)).unwrap();
        apply(&mut memory, plan);
        assert_eq!(pushed(&memory, day(2)), effect);
    }
}

#[test]
fn a_rule_ends_when_it_expires() {
    let mut memory = Memory::default();
    let expires = Some(day(5));
    set(&mut memory, Rule { expires, ..rule("No force push", "no") }, RuleAuthor::Person);
    assert_eq!(pushed(&memory, Timestamp(day(5).0 - 1)), Effect::Deny);
    assert_eq!(pushed(&memory, day(5)), Effect::Allow);
}

#[test]
fn a_rule_applies_in_its_window_by_the_windows_zone() {
    let mut memory = Memory::default();
    // 2026-11-06 is a Friday. Noon in Berlin is 11:00 UTC.
    let window = r#"{"days":["fri"],"from":"12:00","tz":"Europe/Berlin"}"#;
    let windows = vec![serde_json::from_str::<Window>(window).unwrap()];
    set(&mut memory, Rule { windows, ..rule("No force push", "no") }, RuleAuthor::Person);
    let at = |hour: i64| Timestamp(day(6).0 + (hour - 12) * 3_600_000);
    assert_eq!(pushed(&memory, at(10)), Effect::Allow);
    assert_eq!(pushed(&memory, at(11)), Effect::Deny);
    assert_eq!(pushed(&memory, at(22)), Effect::Deny);
    assert_eq!(pushed(&memory, at(23)), Effect::Allow, "it is Saturday in Berlin");
}

#[test]
fn a_rule_that_is_stored_with_a_fault_says_so_at_each_write() {
    let mut memory = Memory::default();
    let mut faulty = rule("No deploy", "no");
    faulty.matches.commands = vec!["deploy $TARGET".to_owned()];
    let warning = "`deploy $TARGET` matches no command: write plain words";
    let outcome = set(&mut memory, faulty.clone(), RuleAuthor::Person);
    assert_eq!(outcome.warnings, [warning]);
    let said = crate::render::rule_set(&outcome);
    assert_eq!(said, format!("r1 is in force.\nWarning: {warning}.\n"));
    let again = set(&mut memory, faulty, RuleAuthor::Person);
    assert!(again.unchanged && again.warnings == [warning], "{again:?}");
    let plan = plan_rule_standing(&memory, again.id, Standing::Accepted, &origin("s", 1)).unwrap();
    assert_eq!(plan.outcome.warnings, [warning]);
    assert_eq!(set(&mut memory, rule("No force push", "no"), RuleAuthor::Person).warnings, [""; 0]);
}
