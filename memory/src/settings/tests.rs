//! Precedence, if several settings give a number.

use super::*;

#[test]
fn a_session_has_its_clients_budget_until_one_is_set() {
    let none = Settings::default();
    assert_eq!(none.session_budget(Some(80_000)).tokens, 80_000);
    assert_eq!(none.session_budget(None).tokens, 100_000);
    let set = Settings { budget_tokens: Some(5_000), ..none.clone() };
    assert_eq!(set.session_budget(Some(80_000)).tokens, 5_000);
    assert_eq!(none.project_budget().tokens, 100_000);
}

#[test]
fn project_settings_win_over_the_file() {
    let project = Settings { budget_tokens: Some(1), ..Settings::default() };
    let file = Settings { budget_tokens: Some(2), load_tokens: Some(3), ..Settings::default() };
    let both = project.or(&file);
    assert_eq!((both.budget_tokens, both.load_tokens), (Some(1), Some(3)));
}

#[test]
fn the_compaction_target_never_exceeds_its_threshold() {
    let settings = Settings { compact_above: Some(50), ..Settings::default() };
    let budget = settings.project_budget();
    assert_eq!((budget.above, budget.to), (50, 50));
    assert!(!budget.is_exceeded(50_000));
    assert!(budget.is_exceeded(50_001));
}
