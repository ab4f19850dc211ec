//! The members who wrote the records of an export.

use super::*;
use crate::plan_notes;

#[test]
fn a_record_keeps_the_member_who_wrote_it_until_a_team_shares_it_again() {
    let mut there = Memory::default();
    there.set_member(Some("Bob"));
    let plan = plan_notes(&there, &origin("one", 1), vec![Ok(note("Postgres 16."))]).unwrap();
    apply(&mut there, plan);
    let member_of = |memory: &Memory| {
        let record = memory.active_of(Kind::Note).next().unwrap();
        record.created.member.as_deref().map(str::to_owned)
    };
    let mut here = Memory::default();
    import(&mut here, &export(&there));
    assert_eq!(member_of(&here).as_deref(), Some("Bob"));
    let mut in_a_team = Memory::default();
    in_a_team.set_member(Some("ada"));
    import(&mut in_a_team, &export(&there));
    assert_eq!(member_of(&in_a_team).as_deref(), Some("ada"));
}
