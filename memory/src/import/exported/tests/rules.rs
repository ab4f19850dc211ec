//! Rules of another memory.

use super::*;
use crate::kinds::Standing;
use crate::testing::rule;
use crate::{RuleAuthor, plan_rule, rules_in_force};

/// Returns a memory with rules that a person has put in force.
fn with_rules<const N: usize>(rules: [(&str, &str); N]) -> Memory {
    let mut memory = Memory::default();
    for (title, reason) in rules {
        let plan = plan_rule(&memory, rule(title, reason), RuleAuthor::Person, &origin("there", 1))
            .unwrap();
        apply(&mut memory, plan);
    }
    memory
}

fn standings(memory: &Memory) -> Vec<(&str, &str, Standing)> {
    let rules = memory.active_of(Kind::Rule).filter_map(|record| record.rule());
    rules.map(|rule| (&*rule.title, &*rule.reason, rule.standing)).collect()
}

#[test]
fn a_rule_is_a_proposal_until_a_person_accepts_it() {
    let document = export(&with_rules([("No force", "It loses work.")]));
    let mut here = Memory::default();
    let outcome = import(&mut here, &document);
    assert_eq!(outcome.notes, ["1 rule is a proposal here until you accept it"]);
    assert_eq!(standings(&here), [("No force", "It loses work.", Standing::Proposed)]);
    assert!(rules_in_force(&here, day(9)).is_empty());
}

#[test]
fn a_rule_that_is_here_stays_as_it_is() {
    let there = with_rules([("No force", "It loses work."), ("No rm", "It loses files.")]);
    let rules = [("no force", "Ours."), ("No rm", "It loses files.")];
    let mut here = with_rules(rules);
    let outcome = import(&mut here, &export(&there));
    let [remark] = &outcome.notes[..] else { panic!("not one remark: {:?}", outcome.notes) };
    let begin = "1 rule has the title of another one here and is left out: No force (";
    assert!(remark.starts_with(begin), "the equal one needs no word: {remark}");
    let kept = rules.map(|(title, reason)| (title, reason, Standing::Accepted));
    assert_eq!(standings(&here), kept);
}

#[test]
fn a_rule_that_was_forgotten_here_is_proposed_again() {
    let there = with_rules([("No force", "It loses work.")]);
    let mut here = with_rules([("No force", "Ours.")]);
    changed_by(&mut here, |record| record.state = RecordState::Forgotten);
    import(&mut here, &export(&there));
    assert_eq!(standings(&here), [("No force", "It loses work.", Standing::Proposed)]);
}
